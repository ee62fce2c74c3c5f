import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Types that a broker refuses are held back while the relay publishes all other events. Their positions are in the row
 * of the cursor, so that the row alone states what was published: two relays may write it at the same time.
 */
export class HeldTypes1763500000009 implements MigrationInterface {
  readonly name = 'HeldTypes1763500000009';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE relay_cursors ADD COLUMN held jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT relay_cursors_held CHECK (jsonb_typeof(held) = 'object');
      COMMENT ON COLUMN relay_cursors.held IS
        'Event types that the target refuses, with the position up to which their events were published: {"<type>": {"txid": "1", "position": 1}}.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
