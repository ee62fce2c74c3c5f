import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MaximumAmount1763500000170 implements MigrationInterface {
  readonly name = 'MaximumAmount1763500000170';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE merchants ADD COLUMN maximum_amount bigint
        CONSTRAINT merchants_maximum_amount CHECK (maximum_amount BETWEEN minimum_amount AND 100000000000);
      COMMENT ON COLUMN merchants.maximum_amount IS 'Cents. With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
