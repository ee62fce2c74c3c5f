import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Event replay for a service that subscribes late: the broker does not store earlier events (ADR 5). */
export class Replays1763500000002 implements MigrationInterface {
  readonly name = 'Replays1763500000002';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE subscribed_types (
        type      text PRIMARY KEY,
        replay_id uuid NOT NULL,
        given_at  timestamptz
      );
      COMMENT ON TABLE subscribed_types IS 'Event types that this service is bound to, and whether the replay of their earlier events is complete.';
      COMMENT ON COLUMN subscribed_types.given_at IS 'When the replay of the earlier events was complete. NULL while the replay is pending.';

      CREATE TABLE replays (
        id        uuid        PRIMARY KEY,
        service   text        NOT NULL CONSTRAINT replays_service_length CHECK (length(service) BETWEEN 1 AND 100),
        type      text        NOT NULL CONSTRAINT replays_type_length CHECK (length(type) BETWEEN 1 AND 200),
        until     xid8        NOT NULL,
        asked_at  timestamptz NOT NULL,
        served_at timestamptz
      );
      CREATE INDEX replays_open ON replays (asked_at, id) WHERE served_at IS NULL;
      COMMENT ON TABLE replays IS 'Replay requests from other services. Each request is for all events of one type.';
      COMMENT ON COLUMN replays.until IS 'The replay contains only events of earlier transactions. The relay publishes the later events anyway.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
