import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Reserves space on each page for new versions of its rows, so that updates need not write indexes (HOT updates). Pages
 * that are already full get no space.
 */
export class RoomForUpdates1763500006030 implements MigrationInterface {
  readonly name = 'RoomForUpdates1763500006030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE session_codes SET (fillfactor = 65)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
