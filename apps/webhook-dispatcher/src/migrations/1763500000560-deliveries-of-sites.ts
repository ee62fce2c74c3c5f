import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the indexes for the lists of deliveries that merchants read. */
export class DeliveriesOfSites1763500000560 implements MigrationInterface {
  readonly name = 'DeliveriesOfSites1763500000560';

  async up(db: QueryRunner): Promise<void> {
    // With these indexes, a page of one site and mode reads only rows of this site and mode. No index is dropped here,
    // because a drop would block readers until the new indexes are complete.
    await db.query(`
      SET LOCAL statement_timeout = '30min';
      CREATE INDEX notifications_of_site ON notifications (merchant_id, site_id, mode, id);
      CREATE INDEX notifications_undelivered_of_site ON notifications (merchant_id, site_id, mode, state, id)
        WHERE state IN ('superseded', 'exhausted', 'gone');
      CREATE INDEX notifications_pending_of_site ON notifications (merchant_id, site_id, mode, id) WHERE state = 'pending';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
