import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MinimumAmount1763500000132 implements MigrationInterface {
  readonly name = 'MinimumAmount1763500000132';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE merchants ADD COLUMN minimum_amount bigint NOT NULL DEFAULT 100
        CONSTRAINT merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000);
      COMMENT ON COLUMN merchants.minimum_amount IS 'Cents. With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
