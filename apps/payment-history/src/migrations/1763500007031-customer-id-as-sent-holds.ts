import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Validates the limit of CustomerIdAsSent for existing rows, without blocking readers and writers. */
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
