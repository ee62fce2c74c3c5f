import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replicas of two releases read the same queues during a rollout: what one does not know is kept for the other. */
export class DeferredEvents1763500000004 implements MigrationInterface {
  readonly name = 'DeferredEvents1763500000004';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE deferred_events (
        message_id  uuid        PRIMARY KEY,
        type        text        NOT NULL,
        envelope    jsonb       NOT NULL,
        deferred_at timestamptz NOT NULL
      );
      CREATE INDEX deferred_events_by_type ON deferred_events (type, message_id);
      COMMENT ON TABLE deferred_events IS 'Events that a replica received and does not know, kept for a replica that knows their type.';

      ALTER TABLE subscribed_types ADD COLUMN known_at timestamptz NOT NULL DEFAULT now();
      COMMENT ON COLUMN subscribed_types.known_at IS 'When a replica that handles the type last said so.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
