import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for the payments of a day, for reconciliation. */
export class PaymentsByDate1763500003120 implements MigrationInterface {
  readonly name = 'PaymentsByDate1763500003120';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '30min';
      CREATE INDEX hosted_payments_by_date ON hosted_payments USING brin (accepted_at) WITH (pages_per_range = 32, autosummarize = on);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
