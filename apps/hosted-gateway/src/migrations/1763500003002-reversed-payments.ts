import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ReversedPayments1763500003002 implements MigrationInterface {
  readonly name = 'ReversedPayments1763500003002';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE hosted_payments ADD COLUMN reversed_at timestamptz;
      COMMENT ON COLUMN hosted_payments.reversed_at IS 'When the acquirer reversed a late charge of this payment. The state of the payment does not change (H2).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
