import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Reserves space on each database page for the next version of its rows, so that updates need not write indexes (HOT
 * updates). Pages that are already full do not change.
 */
export class RoomForUpdates1763500003070 implements MigrationInterface {
  readonly name = 'RoomForUpdates1763500003070';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE sessions SET (fillfactor = 50)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
