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

CREATE TABLE known_partner_keys (
    key_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    hash text NOT NULL,
    revoked boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_partner_keys_hash_form CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT known_partner_keys_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE known_token_keys (
    kid uuid NOT NULL,
    public_jwk jsonb NOT NULL,
    withdrawn boolean NOT NULL,
    version bigint NOT NULL
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

CREATE TABLE payment_counts (
    generation integer NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    customer_key text NOT NULL,
    level smallint NOT NULL,
    bucket bigint NOT NULL,
    payments bigint NOT NULL,
    CONSTRAINT payment_counts_level CHECK (((level >= 1) AND (level <= 4))),
    CONSTRAINT payment_counts_payments CHECK ((payments > 0))
)
WITH (fillfactor='70');

CREATE TABLE payments (
    generation integer NOT NULL,
    payment_reference text NOT NULL,
    version bigint NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    customer_key text NOT NULL,
    customer_id text NOT NULL,
    payment_utc_date timestamp with time zone NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    merchant_id bigint NOT NULL,
    state text NOT NULL,
    modified_utc_date timestamp with time zone NOT NULL,
    invoice_reference text,
    invoice_external_reference text,
    merchant_name text NOT NULL,
    site_reference text NOT NULL,
    currency text NOT NULL,
    invoiced_amount bigint NOT NULL,
    amount bigint NOT NULL,
    tip_amount bigint NOT NULL,
    processed_amount bigint NOT NULL,
    method_type text NOT NULL,
    method_label text NOT NULL,
    verification_url text,
    first_name text NOT NULL,
    last_name text NOT NULL,
    errors jsonb NOT NULL,
    CONSTRAINT payments_amount CHECK (((amount >= 0) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT payments_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payments_customer_id CHECK (((length(customer_id) >= 1) AND (length(customer_id) <= 100))),
    CONSTRAINT payments_customer_key CHECK (((length(customer_key) >= 1) AND (length(customer_key) <= 100))),
    CONSTRAINT payments_first_name CHECK (((length(first_name) >= 0) AND (length(first_name) <= 100))),
    CONSTRAINT payments_invoice_external_reference CHECK ((length(invoice_external_reference) <= 100)),
    CONSTRAINT payments_invoice_reference CHECK ((length(invoice_reference) <= 100)),
    CONSTRAINT payments_invoiced_amount CHECK (((invoiced_amount >= 0) AND (invoiced_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_last_name CHECK (((length(last_name) >= 0) AND (length(last_name) <= 100))),
    CONSTRAINT payments_merchant_name CHECK (((length(merchant_name) >= 1) AND (length(merchant_name) <= 100))),
    CONSTRAINT payments_method_label CHECK (((length(method_label) >= 1) AND (length(method_label) <= 100))),
    CONSTRAINT payments_method_type CHECK ((method_type = ANY (ARRAY['Card'::text, 'External'::text, 'Voucher'::text]))),
    CONSTRAINT payments_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payments_payment_reference CHECK ((payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'::text)),
    CONSTRAINT payments_processed_amount CHECK (((processed_amount >= 0) AND (processed_amount <= '200000000000'::bigint))),
    CONSTRAINT payments_reference CHECK (((length(reference) >= 1) AND (length(reference) <= 100))),
    CONSTRAINT payments_site_reference CHECK ((length(site_reference) <= 100)),
    CONSTRAINT payments_state CHECK ((state = ANY (ARRAY['processing'::text, 'success'::text, 'failed'::text, 'verificationRequired'::text]))),
    CONSTRAINT payments_tip_amount CHECK (((tip_amount >= 0) AND (tip_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_verification_url CHECK ((length(verification_url) <= 2048)),
    CONSTRAINT payments_version CHECK ((version > 0))
)
WITH (fillfactor='65');

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

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_partner_keys
    ADD CONSTRAINT known_partner_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_token_keys
    ADD CONSTRAINT known_token_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY payment_counts
    ADD CONSTRAINT payment_counts_pkey PRIMARY KEY (generation, organisation_id, mode, customer_key, level, bucket);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (generation, payment_reference);

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

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE UNIQUE INDEX known_partner_keys_hash ON known_partner_keys USING btree (hash);

CREATE INDEX payments_of_customer ON payments USING btree (generation, organisation_id, mode, customer_key, payment_utc_date, reference);

CREATE INDEX payments_of_day ON payments USING brin (payment_utc_date) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX payments_of_organisation ON payments USING btree (generation, organisation_id, mode, payment_utc_date, reference);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_payment_history;

GRANT USAGE ON SEQUENCE event_log_position TO svc_payment_history;

GRANT SELECT,INSERT ON TABLE event_log TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE generations TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_partner_keys TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_token_keys TO svc_payment_history;

GRANT SELECT ON TABLE migrations TO svc_payment_history;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payment_counts TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payments TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_payment_history;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_payment_history;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_payment_history_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_payment_history;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_payment_history_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_payment_history;
