import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a separate time for the cleanup job's queries about a verification. Attempts already have such a time. Without a
 * separate time, a query of the job delayed the outcome for a payer who returned a second later.
 */
export class VerificationQuestions1763500001005 implements MigrationInterface {
  readonly name = 'VerificationQuestions1763500001005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE verifications ADD COLUMN next_ask_at timestamptz;
      COMMENT ON COLUMN verifications.asked_at IS 'When the acquirer was last queried because a payer or client polled the payment.';
      COMMENT ON COLUMN verifications.next_ask_at IS
        'When the job next queries the acquirer about the verification. NULL: immediately.';
      DROP INDEX verifications_waiting;
      CREATE INDEX verifications_waiting ON verifications (next_ask_at NULLS FIRST) WHERE open;
      COMMENT ON INDEX verifications_waiting IS 'For the job that queries the acquirer about open verifications of partner payments. Possibly no page of this platform is open for them.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
