import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Validates the rows that are older than the migration SessionCodeBounds, without blocking other transactions. */
export class SessionCodeBoundsHold1763500006021 implements MigrationInterface {
  readonly name = 'SessionCodeBoundsHold1763500006021';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '5min';
      ALTER TABLE session_codes
        VALIDATE CONSTRAINT session_codes_merchant_order_id;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
