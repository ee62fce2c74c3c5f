-- Made by apps/all-in-one/src/schemas.int-spec.ts from all migrations, to be read. Do not run or edit it. In production the schema is named for the service.

CREATE FUNCTION drop_payments_partition(partition text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_inherits
                        WHERE inhparent = 'payments'::regclass AND inhrelid = to_regclass(quote_ident(partition))) THEN
          RAISE EXCEPTION '% is not a partition of payments', partition USING ERRCODE = 'insufficient_privilege';
        END IF;
        EXECUTE format('DROP TABLE %I', partition);
      END $$;

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

CREATE FUNCTION notification_json(body text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
      DECLARE json jsonb;
      BEGIN
        json := body::jsonb;
        RETURN CASE jsonb_typeof(json) WHEN 'object' THEN json ELSE jsonb_build_object('body', body) END;
      EXCEPTION WHEN data_exception THEN
        RETURN jsonb_build_object('body', body);
      END $$;

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

CREATE TABLE generations (
    generation integer NOT NULL,
    state text NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT generations_retired CHECK (((state = 'retired'::text) = (retired_at IS NOT NULL))),
    CONSTRAINT generations_state CHECK ((state = ANY (ARRAY['serving'::text, 'building'::text, 'retired'::text])))
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

CREATE TABLE known_api_keys (
    key_id uuid NOT NULL,
    kind text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint,
    hash text NOT NULL,
    revoked boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_api_keys_hash_form CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT known_api_keys_kind CHECK ((kind = ANY (ARRAY['merchant'::text, 'site'::text]))),
    CONSTRAINT known_api_keys_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT known_api_keys_site CHECK (((kind = 'site'::text) = (site_id IS NOT NULL)))
);

CREATE TABLE known_operator_keys (
    key_id uuid NOT NULL,
    person_id uuid NOT NULL,
    role text NOT NULL,
    hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_operator_keys_hash_form CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT known_operator_keys_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text])))
);

CREATE TABLE known_sites (
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    merchant_name text NOT NULL,
    site_reference text NOT NULL,
    name text NOT NULL,
    require_api_key boolean NOT NULL,
    allowed_hosts jsonb NOT NULL,
    keyless_mode text NOT NULL,
    challenge_payers boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_sites_keyless_mode CHECK ((keyless_mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT known_sites_merchant_name CHECK (((length(merchant_name) >= 1) AND (length(merchant_name) <= 100))),
    CONSTRAINT known_sites_name CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT known_sites_site_reference CHECK (((length(site_reference) >= 1) AND (length(site_reference) <= 100)))
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

CREATE TABLE notification_positions (
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    mode text NOT NULL,
    newest bigint NOT NULL,
    removed bigint DEFAULT 0 NOT NULL,
    CONSTRAINT notification_positions_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT notification_positions_order CHECK (((removed >= 0) AND (removed <= newest)))
)
WITH (fillfactor='50');

CREATE TABLE notifications (
    notification_id uuid NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    mode text NOT NULL,
    "position" bigint NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    kept_since timestamp with time zone NOT NULL,
    CONSTRAINT notifications_body CHECK (((octet_length(body) >= 2) AND (octet_length(body) <= 1048576))),
    CONSTRAINT notifications_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT notifications_position CHECK (("position" > 0)),
    CONSTRAINT notifications_type CHECK ((type = ANY (ARRAY['payment'::text, 'refund'::text, 'dispute'::text])))
);

CREATE TABLE payments (
    generation integer NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    payment_utc_date timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    mode text NOT NULL,
    status smallint NOT NULL,
    invoice_reference text NOT NULL,
    external_reference text NOT NULL,
    currency text NOT NULL,
    invoiced_amount bigint NOT NULL,
    tip_amount bigint NOT NULL,
    tendered_amount bigint NOT NULL,
    site_reference text NOT NULL,
    vouchers jsonb NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    CONSTRAINT payments_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payments_external_reference CHECK ((length(external_reference) <= 100)),
    CONSTRAINT payments_first_name CHECK ((length(first_name) <= 100)),
    CONSTRAINT payments_invoice_reference CHECK ((length(invoice_reference) <= 100)),
    CONSTRAINT payments_invoiced_amount CHECK (((invoiced_amount >= 0) AND (invoiced_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_last_name CHECK ((length(last_name) <= 100)),
    CONSTRAINT payments_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payments_payment_reference CHECK ((payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'::text)),
    CONSTRAINT payments_site_reference CHECK ((length(site_reference) <= 100)),
    CONSTRAINT payments_status CHECK ((status = ANY (ARRAY[1, 2]))),
    CONSTRAINT payments_tendered_amount CHECK (((tendered_amount >= 0) AND (tendered_amount <= '200000000000'::bigint))),
    CONSTRAINT payments_tip_amount CHECK (((tip_amount >= 0) AND (tip_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_version CHECK ((version > 0))
)
PARTITION BY RANGE (payment_utc_date);

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

ALTER TABLE ONLY generations
    ADD CONSTRAINT generations_pkey PRIMARY KEY (generation);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY known_api_keys
    ADD CONSTRAINT known_api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_sites
    ADD CONSTRAINT known_sites_pkey PRIMARY KEY (merchant_id, site_id);

ALTER TABLE ONLY notification_positions
    ADD CONSTRAINT notification_positions_pkey PRIMARY KEY (merchant_id, site_id, mode);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_by_position UNIQUE (merchant_id, site_id, mode, "position");

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (notification_id);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (generation, payment_reference, payment_utc_date);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE UNIQUE INDEX generations_one_building ON generations USING btree (state) WHERE (state = 'building'::text);

CREATE UNIQUE INDEX generations_one_serving ON generations USING btree (state) WHERE (state = 'serving'::text);

CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys USING btree (hash);

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE INDEX known_sites_challenge_payers ON known_sites USING btree (site_id) WHERE challenge_payers;

CREATE INDEX notifications_kept_since ON notifications USING btree (kept_since);

CREATE INDEX payments_by_date ON ONLY payments USING brin (payment_utc_date) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX payments_of_external_reference ON ONLY payments USING btree (generation, merchant_id, mode, external_reference, payment_utc_date, payment_reference, site_id);

CREATE INDEX payments_of_invoice ON ONLY payments USING btree (generation, merchant_id, mode, invoice_reference, payment_utc_date, payment_reference);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_merchant_retrieval;

GRANT USAGE ON SEQUENCE event_log_position TO svc_merchant_retrieval;

GRANT SELECT,INSERT ON TABLE event_log TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE generations TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_api_keys TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_sites TO svc_merchant_retrieval;

GRANT SELECT ON TABLE migrations TO svc_merchant_retrieval;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notification_positions TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payments TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_merchant_retrieval;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_merchant_retrieval;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_merchant_retrieval_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_merchant_retrieval;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_merchant_retrieval_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_merchant_retrieval;
