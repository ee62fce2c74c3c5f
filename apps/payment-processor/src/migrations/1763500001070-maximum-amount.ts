import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MaximumAmount1763500001070 implements MigrationInterface {
  readonly name = 'MaximumAmount1763500001070';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE known_merchants ADD COLUMN maximum_amount bigint
        CONSTRAINT known_merchants_maximum_amount CHECK (maximum_amount BETWEEN 1 AND 100000000000);
      COMMENT ON COLUMN known_merchants.maximum_amount IS 'Cents. With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
