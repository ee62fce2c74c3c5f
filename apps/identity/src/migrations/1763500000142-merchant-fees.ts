import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MerchantFees1763500000142 implements MigrationInterface {
  readonly name = 'MerchantFees1763500000142';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE merchants ADD COLUMN fees jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)');
      COMMENT ON COLUMN merchants.fees IS 'By mode: basis points of the processed amount, and cents, for each card payment (M5).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
