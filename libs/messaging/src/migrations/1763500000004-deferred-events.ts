import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events that cannot be handled now and must not delay later events. Either only a replica of another release has a
 * handler for their type, or the database blocks them (a lock, or a statement that runs too long).
 */
export class DeferredEvents1763500000004 implements MigrationInterface {
  readonly name = 'DeferredEvents1763500000004';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE deferred_events (
        message_id  uuid        PRIMARY KEY,
        type        text        NOT NULL,
        envelope    jsonb       NOT NULL,
        reason      text        NOT NULL CONSTRAINT deferred_events_reason CHECK (reason IN ('unknown', 'blocked')),
        deferred_at timestamptz NOT NULL,
        tried_at    timestamptz NOT NULL,
        retry_at    timestamptz NOT NULL,
        tries       int         NOT NULL DEFAULT 0,
        own_faults  int         NOT NULL DEFAULT 0
      );
      CREATE INDEX deferred_events_due ON deferred_events (type, retry_at);
      COMMENT ON TABLE deferred_events IS 'Events of a type that this replica does not know, or whose handler the database blocked. A replica that can handle them retries them later.';
      COMMENT ON COLUMN deferred_events.own_faults IS 'Attempts that timed out although other events of the type succeeded meanwhile.';
      CREATE INDEX dead_letters_newest ON dead_letters (failed_at DESC, message_id);

      ALTER TABLE subscribed_types ADD COLUMN known_at timestamptz NOT NULL DEFAULT now();
      COMMENT ON COLUMN subscribed_types.known_at IS 'When a replica last recorded that it handles the type.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
