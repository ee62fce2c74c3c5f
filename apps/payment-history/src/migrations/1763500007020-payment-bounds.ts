import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds limits of names and labels to the schema, for new rows only. The next migration validates the existing rows: the
 * validation takes long, and this migration locks the table until it commits.
 */
export class PaymentBounds1763500007020 implements MigrationInterface {
  readonly name = 'PaymentBounds1763500007020';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE payments
        ADD CONSTRAINT payments_merchant_name CHECK (length(merchant_name) BETWEEN 1 AND 100) NOT VALID,
        ADD CONSTRAINT payments_method_label CHECK (length(method_label) BETWEEN 1 AND 100) NOT VALID,
        ADD CONSTRAINT payments_first_name CHECK (length(first_name) BETWEEN 0 AND 100) NOT VALID,
        ADD CONSTRAINT payments_last_name CHECK (length(last_name) BETWEEN 0 AND 100) NOT VALID;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
