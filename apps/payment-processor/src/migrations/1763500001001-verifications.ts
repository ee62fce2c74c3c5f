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
      COMMENT ON TABLE verifications IS 'The challenge that a payment waits for, or waited for; open while the payment is verificationRequired (P1).';
      COMMENT ON COLUMN verifications.challenge_reference IS 'What the acquirer calls it. The charge that follows names it, so the card need not be kept.';
      COMMENT ON COLUMN verifications.asked_at IS 'When the acquirer was last asked about it.';
      CREATE INDEX verifications_due ON verifications (expires_at) WHERE open;

      DROP INDEX payments_one_under_way;
      CREATE UNIQUE INDEX payments_one_under_way ON payments (payable_id) WHERE state IN ('processing', 'success');
      COMMENT ON INDEX payments_one_under_way IS 'A payable has at most one payment that is under way or successful. One that waits for its payer holds nothing.';

      ALTER TABLE attempts ADD COLUMN asked_at timestamptz;
      COMMENT ON COLUMN attempts.asked_at IS 'When the acquirer was last asked about it because somebody looked.';

      CREATE TABLE reversals (
        attempt_id   uuid        PRIMARY KEY REFERENCES attempts (attempt_id),
        requested_at timestamptz NOT NULL,
        next_try_at  timestamptz,
        confirmed_at timestamptz,
        CONSTRAINT reversals_open CHECK ((next_try_at IS NULL) = (confirmed_at IS NOT NULL))
      );
      COMMENT ON TABLE reversals IS 'Approvals that arrived for attempts which had ended without money; given back under the attempt''s own key (H2).';
      COMMENT ON COLUMN reversals.next_try_at IS 'When the acquirer is told, again and again until it confirms.';
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
