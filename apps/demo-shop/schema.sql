-- Made by apps/all-in-one/src/schemas.int-spec.ts from all migrations, to be read. Do not run or edit it. In production the schema is named for the service.

CREATE FUNCTION ensure_month_partitions(parent text, first_day date, months integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
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
      END $_$;

CREATE FUNCTION revoke_from_others(relation regclass, privileges text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION run_as_owner(work regprocedure) RETURNS void
    LANGUAGE plpgsql
    AS $$
      BEGIN
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', work, current_schema());
      END $$;

CREATE TABLE dead_letters (
    message_id uuid NOT NULL,
    type text NOT NULL,
    envelope jsonb NOT NULL,
    error text NOT NULL,
    deliveries integer NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    CONSTRAINT dead_letters_error_length CHECK ((length(error) <= 2000))
);

CREATE TABLE deferred_events (
    message_id uuid NOT NULL,
    type text NOT NULL,
    envelope jsonb NOT NULL,
    reason text NOT NULL,
    deferred_at timestamp with time zone NOT NULL,
    last_attempt_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    own_timeouts integer DEFAULT 0 NOT NULL,
    CONSTRAINT deferred_events_reason CHECK ((reason = ANY (ARRAY['unknown'::text, 'blocked'::text])))
);

CREATE SEQUENCE event_log_position
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE event_log (
    "position" bigint DEFAULT nextval('event_log_position'::regclass) NOT NULL,
    txid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    aggregate_id text NOT NULL,
    aggregate_version bigint NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    traceparent text,
    payload json NOT NULL,
    CONSTRAINT event_log_version_positive CHECK ((aggregate_version > 0))
)
PARTITION BY RANGE (occurred_at);

CREATE TABLE event_log_default (
    "position" bigint DEFAULT nextval('event_log_position'::regclass) NOT NULL,
    txid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    aggregate_id text NOT NULL,
    aggregate_version bigint NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    traceparent text,
    payload json NOT NULL,
    CONSTRAINT event_log_version_positive CHECK ((aggregate_version > 0))
);

CREATE TABLE heartbeats (
    publisher text NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    CONSTRAINT heartbeats_publisher CHECK (((length(publisher) >= 1) AND (length(publisher) <= 100)))
);

CREATE TABLE inbox (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (occurred_at);

CREATE TABLE inbox_default (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
);

CREATE TABLE migrations (
    id integer NOT NULL,
    "timestamp" bigint NOT NULL,
    name character varying NOT NULL
);

CREATE SEQUENCE migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE migrations_id_seq OWNED BY migrations.id;

CREATE TABLE orders (
    order_id uuid NOT NULL,
    order_number bigint NOT NULL,
    checkout_key text NOT NULL,
    lines jsonb NOT NULL,
    total_cents bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    payment_reference text,
    paid_at timestamp with time zone,
    session_number integer NOT NULL,
    session_requested_at timestamp with time zone NOT NULL,
    session_id uuid,
    redirect_url text,
    CONSTRAINT orders_lines_array CHECK ((jsonb_typeof(lines) = 'array'::text)),
    CONSTRAINT orders_paid CHECK (((state = 'paid'::text) = ((payment_reference IS NOT NULL) AND (paid_at IS NOT NULL)))),
    CONSTRAINT orders_redirect_url CHECK ((length(redirect_url) <= 2048)),
    CONSTRAINT orders_session CHECK (((session_id IS NULL) = (redirect_url IS NULL))),
    CONSTRAINT orders_session_number CHECK ((session_number >= 1)),
    CONSTRAINT orders_state CHECK ((state = ANY (ARRAY['awaiting-payment'::text, 'paid'::text]))),
    CONSTRAINT orders_total CHECK (((total_cents >= 1) AND (total_cents <= '100000000000'::bigint)))
);

ALTER TABLE orders ALTER COLUMN order_number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME orders_order_number_seq
    START WITH 1001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE received_webhooks (
    webhook_id text NOT NULL,
    order_id uuid NOT NULL,
    session_id uuid NOT NULL,
    payment_reference text NOT NULL,
    payment_status text NOT NULL,
    user_message text,
    payment_utc_date timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT received_webhooks_id_length CHECK ((length(webhook_id) <= 200)),
    CONSTRAINT received_webhooks_status CHECK ((payment_status = ANY (ARRAY['Success'::text, 'Failed'::text])))
);

CREATE TABLE relay_cursors (
    target text NOT NULL,
    txid xid8 NOT NULL,
    "position" bigint NOT NULL,
    open_txids xid8[] NOT NULL,
    held jsonb NOT NULL,
    CONSTRAINT relay_cursors_held CHECK ((jsonb_typeof(held) = 'object'::text))
);

CREATE TABLE relay_lease (
    name text NOT NULL,
    holder uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE replays (
    id uuid NOT NULL,
    service text NOT NULL,
    type text NOT NULL,
    snapshot pg_snapshot NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    served_at timestamp with time zone,
    CONSTRAINT replays_service_length CHECK (((length(service) >= 1) AND (length(service) <= 100))),
    CONSTRAINT replays_type_length CHECK (((length(type) >= 1) AND (length(type) <= 200)))
);

CREATE TABLE restores (
    restore_id uuid DEFAULT gen_random_uuid() NOT NULL,
    restored_to timestamp with time zone NOT NULL,
    marked_at timestamp with time zone DEFAULT now() NOT NULL,
    replays_requested_at timestamp with time zone,
    replayed_at timestamp with time zone,
    closed_at timestamp with time zone,
    CONSTRAINT restores_order CHECK ((((replayed_at IS NULL) OR (replays_requested_at IS NOT NULL)) AND ((closed_at IS NULL) OR (replayed_at IS NOT NULL)))),
    CONSTRAINT restores_restored_to CHECK ((restored_to <= marked_at))
);

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY event_log ATTACH PARTITION event_log_default DEFAULT;

ALTER TABLE ONLY inbox ATTACH PARTITION inbox_default DEFAULT;

ALTER TABLE ONLY migrations ALTER COLUMN id SET DEFAULT nextval('migrations_id_seq'::regclass);

ALTER TABLE ONLY migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY deferred_events
    ADD CONSTRAINT deferred_events_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_checkout_key UNIQUE (checkout_key);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_number UNIQUE (order_number);

ALTER TABLE ONLY orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY received_webhooks
    ADD CONSTRAINT received_webhooks_pkey PRIMARY KEY (webhook_id);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY restores
    ADD CONSTRAINT restores_pkey PRIMARY KEY (restore_id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX received_webhooks_of_order ON received_webhooks USING btree (order_id, received_at);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE UNIQUE INDEX restores_one_open ON restores USING btree (((closed_at IS NULL))) WHERE (closed_at IS NULL);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

ALTER TABLE ONLY received_webhooks
    ADD CONSTRAINT received_webhooks_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(order_id);

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_demo_shop;

GRANT USAGE ON SEQUENCE event_log_position TO svc_demo_shop;

GRANT SELECT,INSERT ON TABLE event_log TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_demo_shop;

GRANT SELECT ON TABLE migrations TO svc_demo_shop;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE orders TO svc_demo_shop;

GRANT USAGE ON SEQUENCE orders_order_number_seq TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE received_webhooks TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE restores TO svc_demo_shop;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_demo_shop;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_demo_shop_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_demo_shop;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_demo_shop_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_demo_shop;
