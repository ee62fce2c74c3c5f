-- Made by apps/all-in-one/src/schemas.int-spec.ts from all migrations, to be read. Do not run or edit it. In production the schema is named for the service.

CREATE FUNCTION append_to_feed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    NEW.feed_txid := pg_current_xact_id();
    NEW.feed_position := nextval('hosted_payments_feed_position');
    RETURN NEW;
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

CREATE TABLE card_keys (
    name text NOT NULL,
    public_jwk jsonb NOT NULL,
    version bigint NOT NULL
);

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

CREATE TABLE hosted_payments (
    payment_reference text NOT NULL,
    session_id uuid NOT NULL,
    snapshot json NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    reversed_at timestamp with time zone,
    feed_txid xid8,
    feed_position bigint,
    CONSTRAINT hosted_payments_feed CHECK (((feed_txid IS NULL) = (feed_position IS NULL)))
);

CREATE SEQUENCE hosted_payments_feed_position
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE hosted_payments_feed_position OWNED BY hosted_payments.feed_position;

CREATE TABLE inbox (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (occurred_at);

CREATE TABLE inbox_default (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
);

CREATE TABLE invoice_payments (
    payment_reference text NOT NULL,
    invoice_reference uuid NOT NULL,
    snapshot json NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    reversed_at timestamp with time zone
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

CREATE TABLE known_invoices (
    invoice_reference uuid NOT NULL,
    code text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    site_reference text NOT NULL,
    external_reference text,
    amount bigint NOT NULL,
    currency text NOT NULL,
    line_items jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    is_payment_request boolean NOT NULL,
    max_payments integer NOT NULL,
    payable_state text NOT NULL,
    payable_version bigint NOT NULL,
    payment_count integer NOT NULL,
    CONSTRAINT known_invoices_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT known_invoices_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT known_invoices_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT known_invoices_external_reference CHECK ((length(external_reference) <= 100)),
    CONSTRAINT known_invoices_line_items CHECK ((jsonb_array_length(line_items) <= 500)),
    CONSTRAINT known_invoices_max_payments CHECK (((max_payments >= 1) AND (max_payments <= 100))),
    CONSTRAINT known_invoices_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT known_invoices_payable_state CHECK ((payable_state = ANY (ARRAY['open'::text, 'reserved'::text, 'paid'::text, 'refused'::text, 'closed'::text]))),
    CONSTRAINT known_invoices_payable_version CHECK ((payable_version > 0)),
    CONSTRAINT known_invoices_payment_count CHECK (((payment_count >= 0) AND (payment_count <= 100))),
    CONSTRAINT known_invoices_site_reference CHECK ((length(site_reference) <= 100))
)
WITH (fillfactor='70');

CREATE TABLE known_merchants (
    merchant_id bigint NOT NULL,
    features jsonb NOT NULL,
    minimum_amount bigint NOT NULL,
    maximum_amount bigint,
    time_zones jsonb NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_merchants_maximum_amount CHECK (((maximum_amount >= 1) AND (maximum_amount <= '100000000000'::bigint))),
    CONSTRAINT known_merchants_minimum_amount CHECK (((minimum_amount >= 1) AND (minimum_amount <= '100000000000'::bigint))),
    CONSTRAINT known_merchants_time_zones CHECK ((jsonb_typeof(time_zones) = 'array'::text))
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

CREATE TABLE known_till_codes (
    code text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    site_reference text NOT NULL,
    CONSTRAINT known_till_codes_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT known_till_codes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT known_till_codes_site_reference CHECK ((length(site_reference) <= 100))
);

CREATE TABLE known_webhook_secrets (
    secret_id uuid NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    revoked boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_webhook_secrets_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE merchant_logos (
    merchant_id bigint NOT NULL,
    hash text NOT NULL,
    image bytea NOT NULL,
    set_at timestamp with time zone NOT NULL,
    CONSTRAINT merchant_logos_hash CHECK ((hash ~ '^[0-9a-f]{32}$'::text)),
    CONSTRAINT merchant_logos_image CHECK ((length(image) <= 262144))
);

CREATE TABLE merchant_looks (
    merchant_id bigint NOT NULL,
    display_name text,
    accent_colour text,
    support_email text,
    support_phone text,
    support_url text,
    terms_url text,
    logo_hash text,
    logo_width integer,
    logo_height integer,
    version bigint NOT NULL,
    set_at timestamp with time zone NOT NULL,
    set_by text NOT NULL,
    set_txid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT merchant_looks_accent_colour CHECK ((accent_colour ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT merchant_looks_display_name CHECK ((length(display_name) <= 100)),
    CONSTRAINT merchant_looks_logo CHECK ((num_nulls(logo_hash, logo_width, logo_height) = ANY (ARRAY[0, 3]))),
    CONSTRAINT merchant_looks_logo_hash CHECK ((logo_hash ~ '^[0-9a-f]{32}$'::text)),
    CONSTRAINT merchant_looks_logo_height CHECK (((logo_height >= 1) AND (logo_height <= 160))),
    CONSTRAINT merchant_looks_logo_width CHECK (((logo_width >= 1) AND (logo_width <= 480))),
    CONSTRAINT merchant_looks_set_by CHECK ((length(set_by) <= 100)),
    CONSTRAINT merchant_looks_support_email CHECK ((length(support_email) <= 254)),
    CONSTRAINT merchant_looks_support_phone CHECK ((length(support_phone) <= 31)),
    CONSTRAINT merchant_looks_support_url CHECK (((support_url ~ '^https://'::text) AND (length(support_url) <= 500))),
    CONSTRAINT merchant_looks_terms_url CHECK (((terms_url ~ '^https://'::text) AND (length(terms_url) <= 500))),
    CONSTRAINT merchant_looks_version CHECK ((version >= 0))
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

CREATE TABLE receipt_mails (
    mail_id uuid NOT NULL,
    payment_reference text NOT NULL,
    address_hash text NOT NULL,
    merchant_id bigint,
    sent_at timestamp with time zone NOT NULL,
    CONSTRAINT receipt_mails_address_hash CHECK ((length(address_hash) = 22)),
    CONSTRAINT receipt_mails_payment_reference CHECK ((length(payment_reference) <= 100))
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

CREATE TABLE sessions (
    session_id uuid NOT NULL,
    code text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    merchant_name text NOT NULL,
    api_version text NOT NULL,
    request_id text NOT NULL,
    fingerprint text NOT NULL,
    merchant_order_id text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    notification_url text NOT NULL,
    return_url text NOT NULL,
    cancel_url text NOT NULL,
    origin text NOT NULL,
    site_name text,
    custom_fields jsonb NOT NULL,
    basket jsonb,
    locale text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    extended boolean NOT NULL,
    payable_state text NOT NULL,
    payable_version bigint NOT NULL,
    payment_count integer NOT NULL,
    traceparent text,
    CONSTRAINT sessions_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT sessions_api_version CHECK ((api_version = ANY (ARRAY['v3'::text, 'v3.1'::text]))),
    CONSTRAINT sessions_basket CHECK ((pg_column_size(basket) <= 393216)),
    CONSTRAINT sessions_cancel_url CHECK ((length(cancel_url) <= 2048)),
    CONSTRAINT sessions_code CHECK ((code ~ '^[0-9]{20}$'::text)),
    CONSTRAINT sessions_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT sessions_custom_fields CHECK ((pg_column_size(custom_fields) <= 65536)),
    CONSTRAINT sessions_fingerprint CHECK ((length(fingerprint) = 64)),
    CONSTRAINT sessions_locale CHECK ((locale ~ '^[A-Za-z0-9-]{2,35}$'::text)),
    CONSTRAINT sessions_merchant_name CHECK ((length(merchant_name) <= 100)),
    CONSTRAINT sessions_merchant_order_id CHECK ((length(merchant_order_id) <= 100)),
    CONSTRAINT sessions_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT sessions_notification_url CHECK ((length(notification_url) <= 2048)),
    CONSTRAINT sessions_origin CHECK ((length(origin) <= 2048)),
    CONSTRAINT sessions_payable_state CHECK ((payable_state = ANY (ARRAY['open'::text, 'reserved'::text, 'paid'::text, 'refused'::text, 'closed'::text]))),
    CONSTRAINT sessions_payable_version CHECK ((payable_version > 0)),
    CONSTRAINT sessions_payment_count CHECK (((payment_count >= 0) AND (payment_count <= 100))),
    CONSTRAINT sessions_request_id CHECK ((length(request_id) <= 100)),
    CONSTRAINT sessions_return_url CHECK ((length(return_url) <= 2048)),
    CONSTRAINT sessions_site_name CHECK ((length(site_name) <= 100)),
    CONSTRAINT sessions_traceparent CHECK ((length(traceparent) <= 100))
)
WITH (fillfactor='50');

CREATE TABLE site_attack_levels (
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    level integer NOT NULL,
    until timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT site_attack_levels_level CHECK (((level >= 0) AND (level <= 3))),
    CONSTRAINT site_attack_levels_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

CREATE TABLE used_challenges (
    challenge_id uuid NOT NULL,
    reference uuid NOT NULL,
    solution integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT used_challenges_solution CHECK ((solution >= 0))
);

ALTER TABLE ONLY event_log ATTACH PARTITION event_log_default DEFAULT;

ALTER TABLE ONLY inbox ATTACH PARTITION inbox_default DEFAULT;

ALTER TABLE ONLY migrations ALTER COLUMN id SET DEFAULT nextval('migrations_id_seq'::regclass);

ALTER TABLE ONLY migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY card_keys
    ADD CONSTRAINT card_keys_pkey PRIMARY KEY (name);

ALTER TABLE ONLY dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY deferred_events
    ADD CONSTRAINT deferred_events_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY hosted_payments
    ADD CONSTRAINT hosted_payments_pkey PRIMARY KEY (payment_reference);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY invoice_payments
    ADD CONSTRAINT invoice_payments_pkey PRIMARY KEY (payment_reference);

ALTER TABLE ONLY known_api_keys
    ADD CONSTRAINT known_api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_invoices
    ADD CONSTRAINT known_invoices_pkey PRIMARY KEY (invoice_reference);

ALTER TABLE ONLY known_merchants
    ADD CONSTRAINT known_merchants_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_sites
    ADD CONSTRAINT known_sites_pkey PRIMARY KEY (merchant_id, site_id);

ALTER TABLE ONLY known_till_codes
    ADD CONSTRAINT known_till_codes_pkey PRIMARY KEY (code);

ALTER TABLE ONLY known_webhook_secrets
    ADD CONSTRAINT known_webhook_secrets_pkey PRIMARY KEY (secret_id);

ALTER TABLE ONLY merchant_logos
    ADD CONSTRAINT merchant_logos_pkey PRIMARY KEY (merchant_id, hash);

ALTER TABLE ONLY merchant_looks
    ADD CONSTRAINT merchant_looks_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY receipt_mails
    ADD CONSTRAINT receipt_mails_pkey PRIMARY KEY (mail_id);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_idempotency UNIQUE (site_id, mode, api_version, request_id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY site_attack_levels
    ADD CONSTRAINT site_attack_levels_pkey PRIMARY KEY (mode, merchant_id, site_id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

ALTER TABLE ONLY used_challenges
    ADD CONSTRAINT used_challenges_pkey PRIMARY KEY (challenge_id);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX hosted_payments_by_date ON hosted_payments USING brin (accepted_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX hosted_payments_by_session ON hosted_payments USING btree (session_id, accepted_at);

CREATE INDEX hosted_payments_feed_of_site ON hosted_payments USING btree ((((snapshot ->> 'siteId'::text))::bigint), ((snapshot ->> 'mode'::text)), feed_txid, feed_position) WHERE (feed_position IS NOT NULL);

CREATE INDEX invoice_payments_by_invoice ON invoice_payments USING btree (invoice_reference, accepted_at);

CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys USING btree (hash);

CREATE INDEX known_api_keys_usable ON known_api_keys USING btree (merchant_id, mode) WHERE (NOT revoked);

CREATE UNIQUE INDEX known_invoices_by_code ON known_invoices USING btree (code);

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE INDEX known_sites_challenge_payers ON known_sites USING btree (site_id) WHERE challenge_payers;

CREATE INDEX known_webhook_secrets_usable ON known_webhook_secrets USING btree (merchant_id, site_id, mode) WHERE (NOT revoked);

CREATE INDEX merchant_logos_by_hash ON merchant_logos USING btree (hash);

CREATE INDEX merchant_looks_by_change ON merchant_looks USING btree (set_txid);

CREATE INDEX receipt_mails_by_address ON receipt_mails USING btree (address_hash, sent_at);

CREATE INDEX receipt_mails_by_merchant ON receipt_mails USING btree (merchant_id, sent_at) WHERE (merchant_id IS NOT NULL);

CREATE INDEX receipt_mails_by_payment ON receipt_mails USING btree (payment_reference);

CREATE INDEX receipt_mails_by_time ON receipt_mails USING btree (sent_at);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE UNIQUE INDEX sessions_by_code ON sessions USING btree (code);

CREATE INDEX site_attack_levels_until ON site_attack_levels USING btree (until) WHERE (level > 0);

CREATE INDEX used_challenges_by_expiry ON used_challenges USING btree (expires_at);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

CREATE TRIGGER hosted_payments_final BEFORE INSERT OR UPDATE ON hosted_payments FOR EACH ROW WHEN (((new.feed_position IS NULL) AND ((new.snapshot ->> 'state'::text) = ANY (ARRAY['success'::text, 'failed'::text])))) EXECUTE FUNCTION append_to_feed();

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE card_keys TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_hosted_gateway;

GRANT USAGE ON SEQUENCE event_log_position TO svc_hosted_gateway;

GRANT SELECT,INSERT ON TABLE event_log TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE hosted_payments TO svc_hosted_gateway;

GRANT USAGE ON SEQUENCE hosted_payments_feed_position TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invoice_payments TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_api_keys TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_invoices TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_merchants TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_sites TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_till_codes TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_webhook_secrets TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE merchant_logos TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE merchant_looks TO svc_hosted_gateway;

GRANT SELECT ON TABLE migrations TO svc_hosted_gateway;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE receipt_mails TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sessions TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE site_attack_levels TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_hosted_gateway;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE used_challenges TO svc_hosted_gateway;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_hosted_gateway_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_hosted_gateway;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_hosted_gateway_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_hosted_gateway;
