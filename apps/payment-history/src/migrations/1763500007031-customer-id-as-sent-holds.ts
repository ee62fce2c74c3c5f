import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows from before CustomerIdAsSent keep to its bound too: they are read while everybody goes on. */
export class CustomerIdAsSentHolds1763500007031 implements MigrationInterface {
  readonly name = 'CustomerIdAsSentHolds1763500007031';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '5min';
      ALTER TABLE payments VALIDATE CONSTRAINT payments_customer_id_as_sent;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
