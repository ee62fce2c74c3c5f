import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events of older releases lack the minimum amount. Their merchants get the same default as in the service identity.
 */
export class MinimumAmount1763500001007 implements MigrationInterface {
  readonly name = 'MinimumAmount1763500001007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE known_merchants ADD COLUMN minimum_amount bigint NOT NULL DEFAULT 100
        CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000);
      COMMENT ON COLUMN known_merchants.minimum_amount IS 'Cents. With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
