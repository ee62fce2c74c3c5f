import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the merchant of a payment, and an index for the payments of a day. Reconciliation needs both, because it
 * compares the payments of a day for each merchant.
 */
export class MerchantOfPayment1763500007050 implements MigrationInterface {
  readonly name = 'MerchantOfPayment1763500007050';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '30min';
      ALTER TABLE payments ADD COLUMN merchant_id bigint;
      COMMENT ON COLUMN payments.merchant_id IS
        'NULL in rows of earlier releases. A rebuild of the read model fills it.';
      CREATE INDEX payments_of_day ON payments USING brin (payment_utc_date) WITH (pages_per_range = 32, autosummarize = on);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
