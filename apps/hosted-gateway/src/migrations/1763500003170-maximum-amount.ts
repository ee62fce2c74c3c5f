import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MaximumAmount1763500003170 implements MigrationInterface {
  readonly name = 'MaximumAmount1763500003170';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_merchants ADD COLUMN maximum_amount bigint
        CONSTRAINT known_merchants_maximum_amount CHECK (maximum_amount BETWEEN 1 AND 100000000000);
      COMMENT ON COLUMN known_merchants.maximum_amount IS 'Cents. NULL means ten times the amount due, but at most R 50 000 (P6).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
