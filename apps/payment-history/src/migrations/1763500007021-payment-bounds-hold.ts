import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Validates PaymentBounds for existing rows, without blocking readers and writers. */
export class PaymentBoundsHold1763500007021 implements MigrationInterface {
  readonly name = 'PaymentBoundsHold1763500007021';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '5min';
      ALTER TABLE payments
        VALIDATE CONSTRAINT payments_merchant_name,
        VALIDATE CONSTRAINT payments_method_label,
        VALIDATE CONSTRAINT payments_first_name,
        VALIDATE CONSTRAINT payments_last_name;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
