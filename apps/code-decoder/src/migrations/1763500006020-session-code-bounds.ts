import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A limit for merchant_order_id in the schema as well, for new rows immediately. The next migration validates existing rows,
 * because this one locks the table until it commits.
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
