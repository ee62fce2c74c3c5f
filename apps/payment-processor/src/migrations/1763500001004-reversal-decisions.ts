import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A state for the decision to reverse an attempt, and a table for responses of the acquirer that contradict a row. */
export class ReversalDecisions1763500001004 implements MigrationInterface {
  readonly name = 'ReversalDecisions1763500001004';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE attempts
        DROP CONSTRAINT attempts_state,
        ADD CONSTRAINT attempts_state CHECK (state IN ('started', 'unknown', 'reversing', 'approved', 'declined', 'notAttempted', 'reversed')),
        DROP CONSTRAINT attempts_open,
        ADD CONSTRAINT attempts_open CHECK ((state IN ('started', 'unknown', 'reversing')) = (next_ask_at IS NOT NULL)
                                        AND (state IN ('started', 'unknown', 'reversing')) = (ended_at IS NULL));
      COMMENT ON COLUMN attempts.started_at IS 'When the call to the acquirer starts: at the acceptance of the payment, or when a process later leases the call. The age of the attempt counts from this time.';
      COMMENT ON COLUMN attempts.next_ask_at IS 'When the recovery job next queries the outcome from the acquirer, or reverses the attempt.';
      DROP INDEX attempts_one_open;
      CREATE UNIQUE INDEX attempts_one_open ON attempts (payment_id) WHERE state IN ('started', 'unknown', 'reversing', 'approved');

      CREATE OR REPLACE FUNCTION refuse_attempt_transition() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (OLD.state, NEW.state) NOT IN (('started', 'approved'), ('started', 'declined'), ('started', 'notAttempted'), ('started', 'unknown'), ('started', 'reversing'),
                                          ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'notAttempted'), ('unknown', 'reversing'),
                                          ('reversing', 'notAttempted'), ('reversing', 'reversed'),
                                          ('declined', 'reversed'), ('notAttempted', 'reversed')) THEN
          RAISE EXCEPTION 'An attempt cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'attempts_transition';
        END IF;
        RETURN NEW;
      END $$;

      CREATE TABLE incidents (
        attempt_id         uuid        NOT NULL REFERENCES attempts (attempt_id),
        attempt_state      text        NOT NULL,
        answer             text        NOT NULL,
        acquirer_reference text,
        first_seen_at      timestamptz NOT NULL,
        last_seen_at       timestamptz NOT NULL,
        occurrences        int         NOT NULL CONSTRAINT incidents_occurrences CHECK (occurrences > 0),
        PRIMARY KEY (attempt_id, attempt_state, answer)
      );
      COMMENT ON TABLE incidents IS 'Responses of the acquirer that contradict the state of their attempt. An operator compares them with the records of the acquirer.';
      COMMENT ON COLUMN incidents.attempt_state IS 'State of the attempt when the response arrived.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
