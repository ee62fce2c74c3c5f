import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payments that wait for their payer's verification, and reversals of late charges. */
export class Verifications1763500001001 implements MigrationInterface {
  readonly name = 'Verifications1763500001001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE verifications (
        payment_id          uuid        PRIMARY KEY REFERENCES payments (payment_id),
        challenge_reference text        NOT NULL CONSTRAINT verifications_challenge_reference CHECK (length(challenge_reference) BETWEEN 1 AND 100),
        challenge_url       text        NOT NULL CONSTRAINT verifications_challenge_url CHECK (length(challenge_url) BETWEEN 1 AND 2048),
        expires_at          timestamptz NOT NULL,
        open                boolean     NOT NULL,
        asked_at            timestamptz
      );
      COMMENT ON TABLE verifications IS 'Challenges of payments that require a verification by the payer. A challenge is open while its payment is verificationRequired (P1).';
      COMMENT ON COLUMN verifications.challenge_reference IS 'Reference of the challenge at the acquirer. The charge after the verification contains it, so the card data is not stored.';
      COMMENT ON COLUMN verifications.asked_at IS 'When the acquirer was last queried about the challenge.';
      CREATE INDEX verifications_due ON verifications (expires_at) WHERE open;

      DROP INDEX payments_one_under_way;
      CREATE UNIQUE INDEX payments_one_under_way ON payments (payable_id) WHERE state IN ('processing', 'success');
      COMMENT ON INDEX payments_one_under_way IS 'A payable has at most one payment that is in progress or successful. A payment that waits for the verification by its payer does not reserve the payable.';

      ALTER TABLE attempts ADD COLUMN asked_at timestamptz;
      COMMENT ON COLUMN attempts.asked_at IS 'When the acquirer was last queried because a client polled the payment.';

      CREATE TABLE reversals (
        attempt_id   uuid        PRIMARY KEY REFERENCES attempts (attempt_id),
        requested_at timestamptz NOT NULL,
        next_try_at  timestamptz,
        confirmed_at timestamptz,
        CONSTRAINT reversals_open CHECK ((next_try_at IS NULL) = (confirmed_at IS NOT NULL))
      );
      COMMENT ON TABLE reversals IS 'Reversals of approvals that arrived after their attempt had ended without a charge. A reversal uses the idempotency key of the attempt (H2).';
      COMMENT ON COLUMN reversals.next_try_at IS
        'When the next reversal request is sent. The requests are repeated until the acquirer confirms the reversal.';
      CREATE INDEX reversals_due ON reversals (next_try_at) WHERE next_try_at IS NOT NULL;

      CREATE OR REPLACE FUNCTION refuse_attempt_transition() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (OLD.state, NEW.state) NOT IN (('started', 'approved'), ('started', 'declined'), ('started', 'notAttempted'), ('started', 'unknown'), ('started', 'reversed'),
                                          ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'notAttempted'), ('unknown', 'reversed'),
                                          ('declined', 'reversed'), ('notAttempted', 'reversed')) THEN
          RAISE EXCEPTION 'An attempt cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'attempts_transition';
        END IF;
        RETURN NEW;
      END $$;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
