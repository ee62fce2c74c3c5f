import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leaves space on each page for updated rows, so that updates need no index changes (HOT). Full pages do not change. */
export class RoomForUpdates1763500007040 implements MigrationInterface {
  readonly name = 'RoomForUpdates1763500007040';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE payments SET (fillfactor = 65)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
