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

CREATE TABLE invoice_requests (
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    mode text NOT NULL,
    request_id text NOT NULL,
    request_fingerprint text NOT NULL,
    invoice_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT invoice_requests_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT invoice_requests_request_fingerprint CHECK ((length(request_fingerprint) = 64)),
    CONSTRAINT invoice_requests_request_id CHECK ((request_id ~ '^(body:[0-9a-f]{64}|key:.{1,100})$'::text))
);

CREATE TABLE invoices (
    invoice_id uuid NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    site_reference text NOT NULL,
    external_reference text,
    invoice_fingerprint text NOT NULL,
    code text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    line_items jsonb,
    origin text NOT NULL,
    origin_reference text,
    created_utc_date timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    payable_state text NOT NULL,
    payable_version bigint NOT NULL,
    closed_at timestamp with time zone,
    requested_by uuid,
    cancelled_by uuid,
    CONSTRAINT invoices_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT invoices_cancelled CHECK (((cancelled_by IS NULL) OR ((payable_state = 'closed'::text) AND (requested_by IS NOT NULL)))),
    CONSTRAINT invoices_closed CHECK (((payable_state = ANY (ARRAY['paid'::text, 'refused'::text, 'closed'::text])) = (closed_at IS NOT NULL))),
    CONSTRAINT invoices_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT invoices_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT invoices_external_reference CHECK ((length(external_reference) <= 100)),
    CONSTRAINT invoices_invoice_fingerprint CHECK ((length(invoice_fingerprint) = 64)),
    CONSTRAINT invoices_lifetime CHECK (((expires_at - created_at) <= '768:00:00'::interval)),
    CONSTRAINT invoices_line_items CHECK ((jsonb_array_length(line_items) <= 500)),
    CONSTRAINT invoices_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT invoices_origin CHECK ((length(origin) <= 100)),
    CONSTRAINT invoices_origin_reference CHECK ((length(origin_reference) <= 100)),
    CONSTRAINT invoices_payable_state CHECK ((payable_state = ANY (ARRAY['open'::text, 'reserved'::text, 'paid'::text, 'refused'::text, 'closed'::text]))),
    CONSTRAINT invoices_site_reference CHECK ((length(site_reference) <= 100))
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

CREATE TABLE known_merchants (
    merchant_id bigint NOT NULL,
    name text NOT NULL,
    features jsonb NOT NULL,
    version bigint NOT NULL
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

CREATE TABLE session_codes (
    session_id uuid NOT NULL,
    code text,
    mode text,
    merchant_id bigint,
    site_id bigint,
    merchant_order_id text,
    amount bigint,
    currency text,
    created_at timestamp with time zone,
    expires_at timestamp with time zone,
    closed_at timestamp with time zone,
    CONSTRAINT session_codes_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT session_codes_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT session_codes_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT session_codes_halves CHECK ((num_nulls(code, mode, merchant_id, site_id, merchant_order_id, amount, currency, created_at, expires_at) =
CASE
    WHEN (code IS NULL) THEN 9
    ELSE 0
END)),
    CONSTRAINT session_codes_known CHECK (((code IS NOT NULL) OR (closed_at IS NOT NULL))),
    CONSTRAINT session_codes_merchant_order_id CHECK (((length(merchant_order_id) >= 1) AND (length(merchant_order_id) <= 100))),
    CONSTRAINT session_codes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
)
WITH (fillfactor='65');

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

CREATE TABLE till_codes (
    code text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    site_reference text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT till_codes_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT till_codes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT till_codes_site_reference CHECK ((length(site_reference) <= 100))
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

ALTER TABLE ONLY invoice_requests
    ADD CONSTRAINT invoice_requests_pkey PRIMARY KEY (merchant_id, site_id, mode, request_id);

ALTER TABLE ONLY invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (invoice_id);

ALTER TABLE ONLY known_api_keys
    ADD CONSTRAINT known_api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_merchants
    ADD CONSTRAINT known_merchants_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_partner_keys
    ADD CONSTRAINT known_partner_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_sites
    ADD CONSTRAINT known_sites_pkey PRIMARY KEY (merchant_id, site_id);

ALTER TABLE ONLY known_token_keys
    ADD CONSTRAINT known_token_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY session_codes
    ADD CONSTRAINT session_codes_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

ALTER TABLE ONLY till_codes
    ADD CONSTRAINT till_codes_one_each UNIQUE (site_id, mode, site_reference);

ALTER TABLE ONLY till_codes
    ADD CONSTRAINT till_codes_pkey PRIMARY KEY (code);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX invoice_requests_by_time ON invoice_requests USING btree (created_at);

CREATE INDEX invoices_at_till ON invoices USING btree (site_id, mode, site_reference, expires_at) WHERE ((closed_at IS NULL) AND (requested_by IS NULL));

CREATE UNIQUE INDEX invoices_by_code ON invoices USING btree (code);

CREATE INDEX invoices_by_external_reference ON invoices USING btree (site_id, mode, external_reference, created_at, invoice_id);

CREATE UNIQUE INDEX invoices_one_open ON invoices USING btree (site_id, mode, external_reference) WHERE (payable_state = ANY (ARRAY['open'::text, 'reserved'::text]));

CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys USING btree (hash);

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE UNIQUE INDEX known_partner_keys_hash ON known_partner_keys USING btree (hash);

CREATE INDEX known_sites_challenge_payers ON known_sites USING btree (site_id) WHERE challenge_payers;

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE UNIQUE INDEX session_codes_by_code ON session_codes USING btree (code);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

ALTER TABLE ONLY invoice_requests
    ADD CONSTRAINT invoice_requests_invoice FOREIGN KEY (invoice_id) REFERENCES invoices(invoice_id);

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_code_decoder;

GRANT USAGE ON SEQUENCE event_log_position TO svc_code_decoder;

GRANT SELECT,INSERT ON TABLE event_log TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invoice_requests TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invoices TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_api_keys TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_merchants TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_partner_keys TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_sites TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_token_keys TO svc_code_decoder;

GRANT SELECT ON TABLE migrations TO svc_code_decoder;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE session_codes TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_code_decoder;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE till_codes TO svc_code_decoder;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_code_decoder_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_code_decoder;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_code_decoder_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_code_decoder;
