import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Room on each page for the next version of its rows, whose indexes then stay as they are (HOT). Pages that are full stay full. */
export class RoomForUpdates1763500006030 implements MigrationInterface {
  readonly name = 'RoomForUpdates1763500006030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE session_codes SET (fillfactor = 65)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
