import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a limit for merchant_order_id to the schema. The limit applies to new rows immediately. The next migration
 * validates the existing rows: the validation takes long, and this migration locks the table until it commits.
 */
export class SessionCodeBounds1763500006020 implements MigrationInterface {
  readonly name = 'SessionCodeBounds1763500006020';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE session_codes
        ADD CONSTRAINT session_codes_merchant_order_id CHECK (length(merchant_order_id) BETWEEN 1 AND 100) NOT VALID;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
