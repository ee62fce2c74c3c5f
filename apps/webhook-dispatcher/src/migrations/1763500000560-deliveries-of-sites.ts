import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeliveriesOfSites1763500000560 implements MigrationInterface {
  readonly name = 'DeliveriesOfSites1763500000560';

  async up(db: QueryRunner): Promise<void> {
    // Site and mode stand behind what the index is walked by: a merchant's other sites are passed over without reading rows, and
    // there is no further index to keep for each notification.
    await db.query(`
      SET LOCAL statement_timeout = 300000;
      DROP INDEX notifications_of_merchant_by_id;
      CREATE INDEX notifications_of_merchant_by_id ON notifications (merchant_id, id, created_at, state, site_id, mode);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
