import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates a copy and records that it needs a replay in one transaction, so that every copy requests its replay. */
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
