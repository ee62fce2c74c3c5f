import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Removes asked_at. The column stored whether the replay of a generation was requested. Now a generation and its replay
 * request are created in one transaction, so every generation has a replay request.
 */
export class BegunWithItsPast1763500007010 implements MigrationInterface {
  readonly name = 'BegunWithItsPast1763500007010';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      UPDATE generations SET state = 'retired', retired_at = now() WHERE state = 'building' AND asked_at IS NULL;
      ALTER TABLE generations DROP COLUMN asked_at;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
