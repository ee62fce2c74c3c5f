import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables of libs/messaging. Every service has these tables in its own schema. */
export class Messaging1763500000001 implements MigrationInterface {
  readonly name = 'Messaging1763500000001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION ensure_month_partitions(parent text, first_day date, months int) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        month_start date;
        partition text;
      BEGIN
        -- Without this lock, two concurrent processes could both try to create a partition, and one would fail.
        PERFORM pg_advisory_xact_lock(hashtext('ensure_month_partitions'));
        FOR i IN 0 .. months - 1 LOOP
          month_start := (date_trunc('month', first_day) + make_interval(months => i))::date;
          partition := parent || '_' || to_char(month_start, 'YYYY_MM');
          IF to_regclass(partition) IS NULL THEN
            BEGIN
              EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', partition, parent,
                month_start::timestamp AT TIME ZONE 'UTC',
                (month_start + make_interval(months => 1))::timestamp AT TIME ZONE 'UTC');
            EXCEPTION WHEN check_violation THEN
              -- The default partition already contains rows of that month. They stay there: queries find them there too.
              NULL;
            END;
          END IF;
        END LOOP;
      END $$;

      CREATE SEQUENCE event_log_position;
      CREATE TABLE event_log (
        position          bigint      NOT NULL DEFAULT nextval('event_log_position'),
        txid              xid8        NOT NULL DEFAULT pg_current_xact_id(),
        id                uuid        NOT NULL,
        type              text        NOT NULL,
        aggregate_id      text        NOT NULL,
        aggregate_version bigint      NOT NULL CONSTRAINT event_log_version_positive CHECK (aggregate_version > 0),
        occurred_at       timestamptz NOT NULL,
        traceparent       text,
        payload           jsonb       NOT NULL
      ) PARTITION BY RANGE (occurred_at);
      CREATE INDEX event_log_order ON event_log (txid, position);
      CREATE TABLE event_log_default PARTITION OF event_log DEFAULT;
      COMMENT ON TABLE event_log IS 'Append-only log of the events of this service (outbox). A state change and its events are one transaction.';
      COMMENT ON COLUMN event_log.txid IS 'Transaction that wrote the event. Positions are committed out of order. Therefore readers read in the order (txid, position), and only below pg_snapshot_xmin.';

      CREATE TABLE relay_cursors (
        target   text   PRIMARY KEY,
        txid     xid8   NOT NULL,
        position bigint NOT NULL
      );
      COMMENT ON TABLE relay_cursors IS
        'Position in the event log up to which the relay has published events, for each target.';

      CREATE TABLE relay_lease (
        name       text        PRIMARY KEY,
        holder     uuid        NOT NULL,
        expires_at timestamptz NOT NULL
      );
      COMMENT ON TABLE relay_lease IS 'Lease of the process that relays the event log. Correct delivery does not depend on the lease. It only avoids that two processes do the same work.';

      CREATE TABLE inbox (
        message_id  uuid        NOT NULL,
        occurred_at timestamptz NOT NULL,
        PRIMARY KEY (message_id, occurred_at)
      ) PARTITION BY RANGE (occurred_at);
      CREATE TABLE inbox_default PARTITION OF inbox DEFAULT;
      COMMENT ON TABLE inbox IS
        'Ids of handled messages. The id and the effect of a message are committed in one transaction.';

      CREATE TABLE dead_letters (
        message_id uuid        PRIMARY KEY,
        type       text        NOT NULL,
        envelope   jsonb       NOT NULL,
        error      text        NOT NULL CONSTRAINT dead_letters_error_length CHECK (length(error) <= 2000),
        deliveries int         NOT NULL,
        failed_at  timestamptz NOT NULL
      );
      COMMENT ON TABLE dead_letters IS 'Messages that a handler repeatedly failed to handle. A person can replay them.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
