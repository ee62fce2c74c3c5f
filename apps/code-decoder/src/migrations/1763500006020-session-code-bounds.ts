import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An order's id has its bound in the schema as well: new rows at once. Those there are looked at by the next migration,
 * since nobody else can use the table until this one commits.
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
