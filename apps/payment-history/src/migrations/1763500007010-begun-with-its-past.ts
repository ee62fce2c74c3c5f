import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A copy is begun and written down to lack its past in one transaction: there is no copy that has not asked for it. */
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
