import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MerchantFees1763500000142 implements MigrationInterface {
  readonly name = 'MerchantFees1763500000142';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE merchants ADD COLUMN fees jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)');
      COMMENT ON COLUMN merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount in cents (M5).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
