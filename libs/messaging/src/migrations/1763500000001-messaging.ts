import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tables of libs/messaging. Every service has these tables in its own schema. The role that runs migrations owns
 * them. The role of the running service may only read and write their rows, and only append to the event log (ADR 45).
 */
export class Messaging1763500000001 implements MigrationInterface {
  readonly name = 'Messaging1763500000001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION revoke_from_others(relation regclass, privileges text) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        other text;
      BEGIN
        FOR other IN
          SELECT DISTINCT CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END
            FROM pg_class c, aclexplode(c.relacl) acl WHERE c.oid = relation AND acl.grantee <> c.relowner
        LOOP
          EXECUTE format('REVOKE %s ON %s FROM %s', privileges, relation, other);
        END LOOP;
      END $$;
      COMMENT ON FUNCTION revoke_from_others IS 'For migrations: revokes privileges on a table from every role except the owner of the table.';

      CREATE FUNCTION run_as_owner(work regprocedure) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', work, current_schema());
      END $$;
      COMMENT ON FUNCTION run_as_owner IS 'For migrations: the function runs with the privileges of its owner, and searches only this schema.';

      SELECT revoke_from_others('migrations', 'INSERT, UPDATE, DELETE, TRUNCATE');

      CREATE FUNCTION ensure_month_partitions(parent text, first_day date, months int) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        default_partition regclass := to_regclass(quote_ident(parent || '_default'));
        month_start date;
        partition text;
        from_time timestamptz;
        to_time timestamptz;
      BEGIN
        FOR i IN 0 .. months - 1 LOOP
          month_start := (date_trunc('month', first_day) + make_interval(months => i))::date;
          partition := parent || '_' || to_char(month_start, 'YYYY_MM');
          CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
          -- A concurrent caller waits here for this lock, and then finds the partition. ATTACH PARTITION needs the same
          -- lock mode, so this transaction never waits for a stronger lock on this table.
          EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
          CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
          from_time := month_start::timestamp AT TIME ZONE 'UTC';
          to_time := (month_start + make_interval(months => 1))::timestamp AT TIME ZONE 'UTC';
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
          -- Only the owner accesses partitions directly. The service accesses their rows with its privileges on the parent.
          PERFORM revoke_from_others(quote_ident(partition)::regclass, 'ALL');
          IF default_partition IS NOT NULL THEN
            -- Lock the default partition before its rows of this month are moved, so that no other transaction inserts
            -- such a row before the new partition is attached.
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', default_partition);
            EXECUTE format('WITH moved AS (DELETE FROM %s WHERE occurred_at >= $1 AND occurred_at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved',
              default_partition, partition) USING from_time, to_time;
          END IF;
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, from_time, to_time);
        END LOOP;
      END $$;
      SELECT run_as_owner('ensure_month_partitions(text, date, int)');

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
        payload           json        NOT NULL
      ) PARTITION BY RANGE (occurred_at);
      CREATE INDEX event_log_order ON event_log (txid, position);
      CREATE TABLE event_log_default PARTITION OF event_log DEFAULT;
      COMMENT ON TABLE event_log IS 'Append-only log of the events of this service (outbox). A state change and its events are one transaction.';
      COMMENT ON COLUMN event_log.txid IS 'Transaction that wrote the event. Positions are committed out of order. Therefore readers read in the order (txid, position), and a cursor contains the transactions that were open at the time of the read.';
      COMMENT ON COLUMN event_log.payload IS 'json, because it is smaller than jsonb and is only read as a whole.';
      SELECT revoke_from_others('event_log', 'UPDATE, DELETE, TRUNCATE');
      SELECT revoke_from_others('event_log_default', 'ALL');

      CREATE TABLE relay_lease (
        name       text        PRIMARY KEY,
        holder     uuid        NOT NULL,
        expires_at timestamptz NOT NULL
      );
      COMMENT ON TABLE relay_lease IS 'Lease of the process that relays the event log. Correct delivery does not depend on the lease. It only avoids that two processes do the same work.';

      CREATE TABLE relay_cursors (
        target     text   PRIMARY KEY,
        txid       xid8   NOT NULL,
        position   bigint NOT NULL,
        open_txids xid8[] NOT NULL,
        held       jsonb  NOT NULL CONSTRAINT relay_cursors_held CHECK (jsonb_typeof(held) = 'object')
      );
      COMMENT ON TABLE relay_cursors IS
        'Position in the event log up to which the relay has published events, for each target.';
      COMMENT ON COLUMN relay_cursors.open_txids IS
        'Transactions that began before the position and were open at the time of the read. Their events were not published.';
      COMMENT ON COLUMN relay_cursors.held IS
        'Event types that the target refuses, with the cursor up to which their events were published: {"<type>": {"txid": "1", "position": 1, "openTxids": []}}.';

      CREATE TABLE replays (
        id           uuid        PRIMARY KEY,
        service      text        NOT NULL CONSTRAINT replays_service_length CHECK (length(service) BETWEEN 1 AND 100),
        type         text        NOT NULL CONSTRAINT replays_type_length CHECK (length(type) BETWEEN 1 AND 200),
        snapshot     pg_snapshot NOT NULL,
        requested_at timestamptz NOT NULL,
        served_at    timestamptz
      );
      CREATE INDEX replays_open ON replays (requested_at, id) WHERE served_at IS NULL;
      COMMENT ON TABLE replays IS 'Replay requests from other services. Each request is for all events of one type.';
      COMMENT ON COLUMN replays.snapshot IS 'The replay contains the events that were committed at the request. The relay publishes the later events anyway.';

      CREATE TABLE subscribed_types (
        type           text        PRIMARY KEY,
        replay_id      uuid        NOT NULL,
        backfilled_at  timestamptz,
        next_replay_id uuid,
        renewed_at     timestamptz NOT NULL
      );
      COMMENT ON TABLE subscribed_types IS 'Event types that this service is bound to, and whether the replay of their earlier events is complete.';
      COMMENT ON COLUMN subscribed_types.backfilled_at IS 'When the replay of the earlier events was complete. NULL while the replay is pending.';
      COMMENT ON COLUMN subscribed_types.next_replay_id IS 'Id of a pending request for another replay of all events. NULL if no such request is pending.';
      COMMENT ON COLUMN subscribed_types.renewed_at IS 'When a replica last recorded that it handles the type.';

      CREATE TABLE inbox (
        message_id  uuid        NOT NULL,
        occurred_at timestamptz NOT NULL,
        PRIMARY KEY (message_id, occurred_at)
      ) PARTITION BY RANGE (occurred_at);
      CREATE TABLE inbox_default PARTITION OF inbox DEFAULT;
      COMMENT ON TABLE inbox IS
        'Ids of handled messages. The id and the effect of a message are committed in one transaction.';
      SELECT revoke_from_others('inbox_default', 'ALL');

      CREATE TABLE deferred_events (
        message_id      uuid        PRIMARY KEY,
        type            text        NOT NULL,
        envelope        jsonb       NOT NULL,
        reason          text        NOT NULL CONSTRAINT deferred_events_reason CHECK (reason IN ('unknown', 'blocked')),
        deferred_at     timestamptz NOT NULL,
        last_attempt_at timestamptz NOT NULL,
        next_attempt_at timestamptz NOT NULL,
        attempts        int         NOT NULL DEFAULT 0,
        own_timeouts    int         NOT NULL DEFAULT 0
      );
      CREATE INDEX deferred_events_due ON deferred_events (type, next_attempt_at);
      COMMENT ON TABLE deferred_events IS 'Events of a type that this replica does not know, or whose handler the database blocked. A replica that can handle them retries them later.';
      COMMENT ON COLUMN deferred_events.own_timeouts IS 'Attempts that timed out although other events of the type succeeded meanwhile.';

      CREATE TABLE dead_letters (
        message_id uuid        PRIMARY KEY,
        type       text        NOT NULL,
        envelope   jsonb       NOT NULL,
        error      text        NOT NULL CONSTRAINT dead_letters_error_length CHECK (length(error) <= 2000),
        deliveries int         NOT NULL,
        failed_at  timestamptz NOT NULL
      );
      CREATE INDEX dead_letters_newest ON dead_letters (failed_at DESC, message_id);
      COMMENT ON TABLE dead_letters IS 'Messages that a handler repeatedly failed to handle. A person can replay them.';

      CREATE TABLE heartbeats (
        publisher text        PRIMARY KEY CONSTRAINT heartbeats_publisher CHECK (length(publisher) BETWEEN 1 AND 100),
        sent_at   timestamptz NOT NULL
      );
      COMMENT ON TABLE heartbeats IS
        'Newest heartbeat of each publisher, for all replicas: they share a queue, so each replica receives only some of the heartbeats. The service logs an error if heartbeats are missing.';

      CREATE TABLE restores (
        restore_id           uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
        restored_to          timestamptz NOT NULL CONSTRAINT restores_restored_to CHECK (restored_to <= marked_at),
        marked_at            timestamptz NOT NULL DEFAULT now(),
        replays_requested_at timestamptz,
        replayed_at          timestamptz,
        closed_at            timestamptz,
        CONSTRAINT restores_order CHECK ((replayed_at IS NULL OR replays_requested_at IS NOT NULL) AND (closed_at IS NULL OR replayed_at IS NOT NULL))
      );
      CREATE UNIQUE INDEX restores_one_open ON restores ((closed_at IS NULL)) WHERE closed_at IS NULL;
      COMMENT ON TABLE restores IS 'Restores of this database from a backup (docs/backup.md). A script inserts a row before the service starts. The service is not ready until the row is closed.';
      COMMENT ON COLUMN restores.restored_to IS 'The database contains the transactions that were committed before this time.';
      COMMENT ON COLUMN restores.replays_requested_at IS 'When the service requested all events of other services again, because it has forgotten those since restored_to.';
      COMMENT ON COLUMN restores.replayed_at IS 'When the service had handled these events.';
      COMMENT ON COLUMN restores.closed_at IS 'When the service became ready again. Of payment-processor: when an administrator opened it for payments.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
