import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The fees of merchants (M5). Payments of earlier releases have none. */
export class Fees1763500001041 implements MigrationInterface {
  readonly name = 'Fees1763500001041';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_merchants ADD COLUMN fees jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT known_merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)');
      COMMENT ON COLUMN known_merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount in cents (M5).';

      ALTER TABLE payments
        ADD COLUMN fee_basis_points int    NOT NULL DEFAULT 0,
        ADD COLUMN fee_fixed_amount bigint NOT NULL DEFAULT 0,
        ADD CONSTRAINT payments_fee CHECK (fee_basis_points BETWEEN 0 AND 1000 AND fee_fixed_amount BETWEEN 0 AND 10000) NOT VALID;
      COMMENT ON COLUMN payments.fee_basis_points IS 'Fee rate of the merchant when the payment was accepted.';
      COMMENT ON COLUMN payments.fee_fixed_amount IS
        'Fixed fee of the merchant when the payment was accepted, in cents.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
