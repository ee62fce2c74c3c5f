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

CREATE TABLE disputes (
    generation integer NOT NULL,
    dispute_reference uuid NOT NULL,
    version bigint NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    site_id bigint NOT NULL,
    stage text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    reason text NOT NULL,
    respond_by timestamp with time zone,
    created_utc_date timestamp with time zone NOT NULL,
    changed_utc_date timestamp with time zone NOT NULL,
    CONSTRAINT disputes_amount CHECK (((amount >= 0) AND (amount <= '200000000000'::bigint))),
    CONSTRAINT disputes_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT disputes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT disputes_reason CHECK ((length(reason) <= 200)),
    CONSTRAINT disputes_stage CHECK ((stage = ANY (ARRAY['inquiry'::text, 'opened'::text, 'debited'::text, 'reversed'::text, 'won'::text, 'lost'::text]))),
    CONSTRAINT disputes_version CHECK ((version > 0))
);

CREATE TABLE ended_payables (
    generation integer NOT NULL,
    payable_id uuid NOT NULL,
    state text NOT NULL,
    ended_utc_date timestamp with time zone NOT NULL,
    CONSTRAINT ended_payables_state CHECK ((state = ANY (ARRAY['closed'::text, 'refused'::text])))
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

CREATE TABLE failed_calls (
    request_id uuid NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint,
    mode text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status_code integer NOT NULL,
    error_code text NOT NULL,
    called_at timestamp with time zone NOT NULL,
    CONSTRAINT failed_calls_error_code CHECK ((length(error_code) <= 100)),
    CONSTRAINT failed_calls_method CHECK (((length(method) >= 1) AND (length(method) <= 10))),
    CONSTRAINT failed_calls_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT failed_calls_path CHECK (((length(path) >= 1) AND (length(path) <= 300))),
    CONSTRAINT failed_calls_status_code CHECK (((status_code >= 400) AND (status_code <= 599)))
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

CREATE TABLE known_merchants (
    merchant_id bigint NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    time_zones jsonb NOT NULL,
    CONSTRAINT known_merchants_name CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT known_merchants_time_zones CHECK ((jsonb_typeof(time_zones) = 'array'::text)),
    CONSTRAINT known_merchants_version CHECK ((version > 0))
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
    site_id bigint NOT NULL,
    version bigint NOT NULL,
    merchant_id bigint NOT NULL,
    name text NOT NULL,
    site_reference text NOT NULL,
    CONSTRAINT known_sites_name CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT known_sites_site_reference CHECK ((length(site_reference) <= 100)),
    CONSTRAINT known_sites_version CHECK ((version > 0))
);

CREATE TABLE list_changes (
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT list_changes_changes CHECK ((changes > 0)),
    CONSTRAINT list_changes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
)
WITH (fillfactor='50');

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

CREATE TABLE payment_requests (
    generation integer NOT NULL,
    invoice_reference uuid NOT NULL,
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    site_id bigint NOT NULL,
    code text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    description text NOT NULL,
    order_reference text NOT NULL,
    created_utc_date timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT payment_requests_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT payment_requests_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT payment_requests_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payment_requests_description CHECK ((length(description) <= 200)),
    CONSTRAINT payment_requests_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payment_requests_order_reference CHECK ((length(order_reference) <= 100))
);

CREATE TABLE payments (
    generation integer NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    site_id bigint NOT NULL,
    site_reference text NOT NULL,
    payment_utc_date timestamp with time zone NOT NULL,
    modified_utc_date timestamp with time zone NOT NULL,
    state text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    tip_amount bigint NOT NULL,
    processed_amount bigint NOT NULL,
    method text NOT NULL,
    method_label text NOT NULL,
    last_digits text NOT NULL,
    order_reference text NOT NULL,
    payable_id uuid NOT NULL,
    source text NOT NULL,
    code text NOT NULL,
    is_of_partner boolean NOT NULL,
    customer_id text NOT NULL,
    customer_name text NOT NULL,
    errors jsonb NOT NULL,
    CONSTRAINT payments_amount CHECK (((amount >= 0) AND (amount <= '200000000000'::bigint))),
    CONSTRAINT payments_code CHECK ((length(code) <= 20)),
    CONSTRAINT payments_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payments_customer_id CHECK ((length(customer_id) <= 100)),
    CONSTRAINT payments_customer_name CHECK ((length(customer_name) <= 201)),
    CONSTRAINT payments_errors CHECK ((jsonb_typeof(errors) = 'array'::text)),
    CONSTRAINT payments_last_digits CHECK ((last_digits ~ '^([0-9]{4})?$'::text)),
    CONSTRAINT payments_method CHECK ((method = ANY (ARRAY['Card'::text, 'External'::text, 'Voucher'::text]))),
    CONSTRAINT payments_method_label CHECK ((length(method_label) <= 100)),
    CONSTRAINT payments_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payments_order_reference CHECK ((length(order_reference) <= 100)),
    CONSTRAINT payments_payment_reference CHECK ((payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'::text)),
    CONSTRAINT payments_processed_amount CHECK (((processed_amount >= 0) AND (processed_amount <= '200000000000'::bigint))),
    CONSTRAINT payments_site_reference CHECK ((length(site_reference) <= 100)),
    CONSTRAINT payments_source CHECK ((source = ANY (ARRAY['session'::text, 'invoice'::text]))),
    CONSTRAINT payments_state CHECK ((state = ANY (ARRAY['success'::text, 'failed'::text, 'verificationRequired'::text]))),
    CONSTRAINT payments_tip_amount CHECK (((tip_amount >= 0) AND (tip_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_version CHECK ((version > 0))
);

CREATE TABLE refunds (
    generation integer NOT NULL,
    refund_reference uuid NOT NULL,
    version bigint NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    status text NOT NULL,
    created_utc_date timestamp with time zone NOT NULL,
    returned_utc_date timestamp with time zone,
    CONSTRAINT refunds_amount CHECK (((amount >= 1) AND (amount <= '200000000000'::bigint))),
    CONSTRAINT refunds_status CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
    CONSTRAINT refunds_version CHECK ((version > 0))
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

CREATE TABLE request_mails (
    mail_id uuid NOT NULL,
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    site_id bigint NOT NULL,
    invoice_reference uuid NOT NULL,
    recipient text NOT NULL,
    language text NOT NULL,
    content jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT request_mails_attempts CHECK (((attempts >= 0) AND (attempts <= 6))),
    CONSTRAINT request_mails_content CHECK ((jsonb_typeof(content) = 'object'::text)),
    CONSTRAINT request_mails_ended CHECK (((state = 'pending'::text) = (ended_at IS NULL))),
    CONSTRAINT request_mails_language CHECK ((language ~ '^[a-z]{2}$'::text)),
    CONSTRAINT request_mails_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT request_mails_recipient CHECK (((length(recipient) >= 3) AND (length(recipient) <= 254))),
    CONSTRAINT request_mails_state CHECK ((state = ANY (ARRAY['pending'::text, 'sent'::text, 'rejected'::text, 'failed'::text, 'dropped'::text])))
);

CREATE TABLE reversals (
    generation integer NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    reversed_utc_date timestamp with time zone NOT NULL,
    amount bigint NOT NULL,
    capture_failed boolean NOT NULL,
    CONSTRAINT reversals_amount CHECK (((amount >= 0) AND (amount <= '200000000000'::bigint)))
);

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

CREATE TABLE verifications (
    generation integer NOT NULL,
    payment_reference text NOT NULL COLLATE pg_catalog."C",
    asked_utc_date timestamp with time zone NOT NULL
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

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_pkey PRIMARY KEY (generation, dispute_reference);

ALTER TABLE ONLY ended_payables
    ADD CONSTRAINT ended_payables_pkey PRIMARY KEY (generation, payable_id);

ALTER TABLE ONLY failed_calls
    ADD CONSTRAINT failed_calls_pkey PRIMARY KEY (request_id);

ALTER TABLE ONLY generations
    ADD CONSTRAINT generations_pkey PRIMARY KEY (generation);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY known_merchants
    ADD CONSTRAINT known_merchants_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_sites
    ADD CONSTRAINT known_sites_pkey PRIMARY KEY (site_id);

ALTER TABLE ONLY list_changes
    ADD CONSTRAINT list_changes_pkey PRIMARY KEY (merchant_id, mode);

ALTER TABLE ONLY payment_requests
    ADD CONSTRAINT payment_requests_pkey PRIMARY KEY (generation, invoice_reference);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (generation, payment_reference);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (generation, refund_reference);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY request_mails
    ADD CONSTRAINT request_mails_pkey PRIMARY KEY (mail_id);

ALTER TABLE ONLY reversals
    ADD CONSTRAINT reversals_pkey PRIMARY KEY (generation, payment_reference, reversed_utc_date);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (generation, payment_reference);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX disputes_by_payment ON disputes USING btree (generation, payment_reference);

CREATE INDEX disputes_newest ON disputes USING btree (generation, merchant_id, mode, created_utc_date DESC, dispute_reference DESC);

CREATE INDEX disputes_undecided ON disputes USING btree (generation, merchant_id, mode, COALESCE(respond_by, 'infinity'::timestamp with time zone), dispute_reference) WHERE (stage <> ALL (ARRAY['won'::text, 'lost'::text]));

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX failed_calls_expiring ON failed_calls USING btree (called_at);

CREATE INDEX failed_calls_newest ON failed_calls USING btree (merchant_id, mode, called_at DESC, request_id DESC);

CREATE UNIQUE INDEX generations_one_building ON generations USING btree (state) WHERE (state = 'building'::text);

CREATE UNIQUE INDEX generations_one_serving ON generations USING btree (state) WHERE (state = 'serving'::text);

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE INDEX known_sites_of_merchant ON known_sites USING btree (merchant_id);

CREATE INDEX payment_requests_newest ON payment_requests USING btree (generation, merchant_id, mode, created_utc_date DESC, invoice_reference DESC);

CREATE INDEX payment_requests_of_site ON payment_requests USING btree (generation, merchant_id, mode, site_id, created_utc_date DESC, invoice_reference DESC);

CREATE INDEX payments_newest ON payments USING btree (generation, merchant_id, mode, payment_utc_date DESC, payment_reference DESC);

CREATE INDEX payments_not_paid ON payments USING btree (generation, merchant_id, mode, state, payment_utc_date DESC, payment_reference DESC) WHERE (state <> 'success'::text);

CREATE INDEX payments_of_amount ON payments USING btree (generation, merchant_id, mode, amount, payment_utc_date DESC, payment_reference DESC);

CREATE INDEX payments_of_card ON payments USING btree (generation, merchant_id, mode, last_digits, payment_utc_date DESC, payment_reference DESC) WHERE (last_digits <> ''::text);

CREATE INDEX payments_of_code ON payments USING btree (generation, merchant_id, mode, code, payment_utc_date DESC, payment_reference DESC) WHERE (code <> ''::text);

CREATE INDEX payments_of_order ON payments USING btree (generation, merchant_id, mode, lower(order_reference), payment_utc_date DESC, payment_reference DESC) WHERE (order_reference <> ''::text);

CREATE INDEX payments_of_payable ON payments USING btree (generation, payable_id);

CREATE INDEX payments_of_site ON payments USING btree (generation, merchant_id, mode, site_id, payment_utc_date DESC, payment_reference DESC);

CREATE INDEX payments_with_customer ON payments USING btree (generation, merchant_id, mode, lower(customer_name), payment_utc_date DESC, payment_reference DESC) WHERE (customer_name <> ''::text);

CREATE INDEX payments_without_card ON payments USING btree (generation, merchant_id, mode, method, payment_utc_date DESC, payment_reference DESC) WHERE (method <> 'Card'::text);

CREATE INDEX refunds_by_payment ON refunds USING btree (generation, payment_reference);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE INDEX request_mails_by_time ON request_mails USING btree (created_at);

CREATE INDEX request_mails_of_merchant ON request_mails USING btree (merchant_id, created_at);

CREATE INDEX request_mails_of_request ON request_mails USING btree (invoice_reference, created_at);

CREATE INDEX request_mails_pending ON request_mails USING btree (next_attempt_at) WHERE (state = 'pending'::text);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE disputes TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE ended_payables TO svc_console;

GRANT USAGE ON SEQUENCE event_log_position TO svc_console;

GRANT SELECT,INSERT ON TABLE event_log TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE failed_calls TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE generations TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_merchants TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_sites TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE list_changes TO svc_console;

GRANT SELECT ON TABLE migrations TO svc_console;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payment_requests TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payments TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE refunds TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE request_mails TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reversals TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_console;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verifications TO svc_console;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_console_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_console;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_console_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_console;
