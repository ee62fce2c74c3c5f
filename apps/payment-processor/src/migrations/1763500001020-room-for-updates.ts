import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A fill factor that leaves space on each page for new row versions, without index updates (HOT). Pages that are
 * already full stay full.
 */
export class RoomForUpdates1763500001020 implements MigrationInterface {
  readonly name = 'RoomForUpdates1763500001020';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE payables SET (fillfactor = 60)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
