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

CREATE FUNCTION refuse_audit_log_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      BEGIN
        RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'insufficient_privilege';
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

CREATE TABLE api_keys (
    key_id uuid NOT NULL,
    ordinal bigint NOT NULL,
    kind text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint,
    hash text NOT NULL,
    prefix text NOT NULL,
    sealed text NOT NULL,
    is_primary boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    revoked_at timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT api_keys_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT api_keys_kind CHECK ((kind = ANY (ARRAY['merchant'::text, 'site'::text]))),
    CONSTRAINT api_keys_kind_of_owner CHECK (((kind = 'site'::text) = (site_id IS NOT NULL))),
    CONSTRAINT api_keys_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT api_keys_prefix_length CHECK (((length(prefix) >= 1) AND (length(prefix) <= 32))),
    CONSTRAINT api_keys_primary_valid CHECK ((NOT (is_primary AND (revoked_at IS NOT NULL)))),
    CONSTRAINT api_keys_sealed_length CHECK (((length(sealed) >= 1) AND (length(sealed) <= 4096))),
    CONSTRAINT api_keys_version_positive CHECK ((version > 0))
);

ALTER TABLE api_keys ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME api_keys_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE audit_log (
    entry_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    service text NOT NULL,
    actor text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL,
    merchant_id bigint,
    site_id bigint,
    organisation_id uuid,
    credential_id uuid,
    before jsonb,
    after jsonb,
    CONSTRAINT audit_log_action_length CHECK (((length(action) >= 1) AND (length(action) <= 100))),
    CONSTRAINT audit_log_actor_length CHECK (((length(actor) >= 1) AND (length(actor) <= 100))),
    CONSTRAINT audit_log_request_id_length CHECK (((length(request_id) >= 1) AND (length(request_id) <= 100))),
    CONSTRAINT audit_log_says_something CHECK (((before IS NOT NULL) OR (after IS NOT NULL))),
    CONSTRAINT audit_log_service_length CHECK (((length(service) >= 1) AND (length(service) <= 64)))
);

ALTER TABLE audit_log ALTER COLUMN entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME audit_log_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE customers (
    customer_reference uuid NOT NULL,
    user_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    created_at timestamp with time zone NOT NULL
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

CREATE TABLE inbox (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (occurred_at);

CREATE TABLE inbox_default (
    message_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
);

CREATE TABLE invitations (
    invitation_id uuid NOT NULL,
    token_hash text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint,
    role text NOT NULL,
    email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT invitations_email_length CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT invitations_role CHECK ((role = ANY (ARRAY['owner'::text, 'finance'::text, 'support'::text, 'developer'::text]))),
    CONSTRAINT invitations_token_hash_shape CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE operator_keys (
    key_id uuid NOT NULL,
    person_id uuid NOT NULL,
    role text NOT NULL,
    hash text NOT NULL,
    prefix text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT operator_keys_expires CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '90 days'::interval)))),
    CONSTRAINT operator_keys_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT operator_keys_prefix_length CHECK (((length(prefix) >= 1) AND (length(prefix) <= 32))),
    CONSTRAINT operator_keys_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text]))),
    CONSTRAINT operator_keys_version_positive CHECK ((version > 0))
);

CREATE VIEW known_operator_keys AS
 SELECT operator_keys.key_id,
    operator_keys.person_id,
    operator_keys.role,
    operator_keys.hash,
    operator_keys.expires_at,
    (operator_keys.revoked_at IS NOT NULL) AS revoked,
    operator_keys.version
   FROM operator_keys;

CREATE TABLE partner_credentials (
    credential_id uuid NOT NULL,
    ordinal bigint NOT NULL,
    kind text NOT NULL,
    mode text NOT NULL,
    organisation_id uuid NOT NULL,
    hash text NOT NULL,
    prefix text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT partner_credentials_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT partner_credentials_kind CHECK ((kind = ANY (ARRAY['api-key'::text, 'api-token'::text]))),
    CONSTRAINT partner_credentials_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT partner_credentials_prefix_length CHECK (((length(prefix) >= 1) AND (length(prefix) <= 32))),
    CONSTRAINT partner_credentials_version_positive CHECK ((version > 0))
);

CREATE VIEW known_partner_keys AS
 SELECT partner_credentials.credential_id AS key_id,
    partner_credentials.organisation_id,
    partner_credentials.mode,
    partner_credentials.hash,
    (partner_credentials.revoked_at IS NOT NULL) AS revoked,
    partner_credentials.version
   FROM partner_credentials
  WHERE (partner_credentials.kind = 'api-key'::text);

CREATE TABLE token_keys (
    kid uuid NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    signs_from timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT token_keys_sealed_length CHECK (((length(sealed_private_key) >= 1) AND (length(sealed_private_key) <= 4096))),
    CONSTRAINT token_keys_signs_after_creation CHECK ((signs_from >= created_at)),
    CONSTRAINT token_keys_version_positive CHECK ((version > 0))
);

CREATE VIEW known_token_keys AS
 SELECT token_keys.kid,
    token_keys.public_jwk,
    (token_keys.withdrawn_at IS NOT NULL) AS withdrawn,
    token_keys.version
   FROM token_keys;

CREATE TABLE login_failures (
    attempt_id uuid NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT login_failures_subject_shape CHECK ((subject ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE login_successes (
    address text NOT NULL,
    email text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT login_successes_address_shape CHECK ((address ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT login_successes_email_shape CHECK ((email ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE mails (
    mail_id uuid NOT NULL,
    merchant_id bigint NOT NULL,
    state text NOT NULL,
    sealed_mail text,
    attempts smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT mails_attempts_range CHECK (((attempts >= 0) AND (attempts <= 1000))),
    CONSTRAINT mails_content CHECK (((state = 'waiting'::text) = (sealed_mail IS NOT NULL))),
    CONSTRAINT mails_sealed_mail_length CHECK (((length(sealed_mail) >= 1) AND (length(sealed_mail) <= 32768))),
    CONSTRAINT mails_state CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'rejected'::text, 'cancelled'::text])))
);

CREATE TABLE merchants (
    merchant_id bigint NOT NULL,
    name text NOT NULL,
    features jsonb NOT NULL,
    minimum_amount bigint NOT NULL,
    maximum_amount bigint,
    grants jsonb NOT NULL,
    fees jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    time_zones jsonb NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT merchants_features_object CHECK ((jsonb_typeof(features) = 'object'::text)),
    CONSTRAINT merchants_fees CHECK (((NOT (fees @? '$.*."basisPoints"?(@ < 0 || @ > 1000)'::jsonpath)) AND (NOT (fees @? '$.*."fixedAmount"?(@ < 0 || @ > 10000)'::jsonpath)))),
    CONSTRAINT merchants_grants_array CHECK ((jsonb_typeof(grants) = 'array'::text)),
    CONSTRAINT merchants_maximum_amount CHECK (((maximum_amount >= minimum_amount) AND (maximum_amount <= '100000000000'::bigint))),
    CONSTRAINT merchants_minimum_amount CHECK (((minimum_amount >= 1) AND (minimum_amount <= '100000000000'::bigint))),
    CONSTRAINT merchants_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT merchants_time_zones CHECK (((jsonb_typeof(time_zones) = 'array'::text) AND ((jsonb_array_length(time_zones) >= 1) AND (jsonb_array_length(time_zones) <= 100)))),
    CONSTRAINT merchants_version_positive CHECK ((version > 0))
);

ALTER TABLE merchants ALTER COLUMN merchant_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME merchants_merchant_id_seq
    START WITH 1001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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

CREATE TABLE operator_invitations (
    invitation_id uuid NOT NULL,
    token_hash text NOT NULL,
    role text NOT NULL,
    email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT operator_invitations_email_length CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT operator_invitations_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text]))),
    CONSTRAINT operator_invitations_token_hash_shape CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE operators (
    person_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT operators_role CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text])))
);

CREATE TABLE organisations (
    organisation_id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT organisations_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);

ALTER TABLE partner_credentials ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME partner_credentials_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE passkey_challenges (
    token_hash text NOT NULL,
    purpose text NOT NULL,
    subject text NOT NULL,
    challenge text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT passkey_challenges_challenge_length CHECK (((length(challenge) >= 1) AND (length(challenge) <= 128))),
    CONSTRAINT passkey_challenges_purpose CHECK ((purpose = ANY (ARRAY['sign-in'::text, 'registration'::text]))),
    CONSTRAINT passkey_challenges_subject_length CHECK (((length(subject) >= 1) AND (length(subject) <= 64))),
    CONSTRAINT passkey_challenges_token_hash_shape CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE passkeys (
    passkey_id uuid NOT NULL,
    person_id uuid NOT NULL,
    credential_id text NOT NULL,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_counter_range CHECK (((counter >= 0) AND (counter <= '4294967295'::bigint))),
    CONSTRAINT passkeys_credential_id_length CHECK (((length(credential_id) >= 1) AND (length(credential_id) <= 1364))),
    CONSTRAINT passkeys_name_length CHECK (((length(name) >= 1) AND (length(name) <= 60))),
    CONSTRAINT passkeys_public_key_length CHECK (((length(public_key) >= 1) AND (length(public_key) <= 4096)))
);

CREATE TABLE people (
    person_id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    totp_secret text,
    totp_created_at timestamp with time zone,
    totp_last_step bigint,
    new_totp_secret text,
    new_totp_expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    last_sign_in_at timestamp with time zone,
    CONSTRAINT people_email_length CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT people_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT people_new_totp CHECK ((num_nulls(new_totp_secret, new_totp_expires_at) = ANY (ARRAY[0, 2]))),
    CONSTRAINT people_new_totp_secret_length CHECK (((length(new_totp_secret) >= 1) AND (length(new_totp_secret) <= 1024))),
    CONSTRAINT people_password_hash_shape CHECK ((password_hash ~~ '$argon2id$%'::text)),
    CONSTRAINT people_totp CHECK ((num_nulls(totp_secret, totp_created_at, totp_last_step) = ANY (ARRAY[0, 3]))),
    CONSTRAINT people_totp_secret_length CHECK (((length(totp_secret) >= 1) AND (length(totp_secret) <= 1024)))
);

CREATE TABLE person_roles (
    merchant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    site_id bigint,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT person_roles_role CHECK ((role = ANY (ARRAY['owner'::text, 'finance'::text, 'support'::text, 'developer'::text])))
);

CREATE TABLE person_sessions (
    session_id uuid NOT NULL,
    token_hash text NOT NULL,
    person_id uuid NOT NULL,
    browser text NOT NULL,
    method text NOT NULL,
    device_name text,
    device_address text,
    set_up_required boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    authenticated_at timestamp with time zone NOT NULL,
    last_active_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT person_sessions_browser_shape CHECK ((browser ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT person_sessions_device CHECK ((num_nulls(device_name, device_address) = ANY (ARRAY[0, 2]))),
    CONSTRAINT person_sessions_device_address_length CHECK (((length(device_address) >= 1) AND (length(device_address) <= 45))),
    CONSTRAINT person_sessions_device_name_length CHECK (((length(device_name) >= 1) AND (length(device_name) <= 60))),
    CONSTRAINT person_sessions_method CHECK ((method = ANY (ARRAY['password'::text, 'passkey'::text, 'link'::text]))),
    CONSTRAINT person_sessions_token_hash_shape CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
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

CREATE TABLE sealing_key (
    only_one boolean DEFAULT true NOT NULL,
    public_jwk jsonb NOT NULL,
    version bigint NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    CONSTRAINT sealing_key_only_one CHECK (only_one)
);

CREATE TABLE sign_in_failures (
    attempt_id uuid NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_failures_subject_shape CHECK ((subject ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE sign_in_tokens (
    token_hash text NOT NULL,
    kind text NOT NULL,
    person_id uuid NOT NULL,
    codes smallint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_tokens_codes_range CHECK (((codes >= 0) AND (codes <= 5))),
    CONSTRAINT sign_in_tokens_kind CHECK ((kind = ANY (ARRAY['password'::text, 'link'::text]))),
    CONSTRAINT sign_in_tokens_token_hash_shape CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE sites (
    site_id bigint NOT NULL,
    merchant_id bigint NOT NULL,
    name text NOT NULL,
    site_reference text NOT NULL,
    require_api_key boolean NOT NULL,
    allowed_hosts jsonb NOT NULL,
    keyless_mode text NOT NULL,
    webhook_url text,
    webhook_enabled boolean NOT NULL,
    challenge_payers boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT sites_allowed_hosts_array CHECK ((jsonb_typeof(allowed_hosts) = 'array'::text)),
    CONSTRAINT sites_keyless_hosts CHECK ((require_api_key OR (jsonb_array_length(allowed_hosts) > 0))),
    CONSTRAINT sites_keyless_mode CHECK ((keyless_mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT sites_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT sites_reference_length CHECK (((length(site_reference) >= 1) AND (length(site_reference) <= 100))),
    CONSTRAINT sites_version_positive CHECK ((version > 0)),
    CONSTRAINT sites_webhook CHECK (((NOT webhook_enabled) OR (webhook_url IS NOT NULL))),
    CONSTRAINT sites_webhook_url_length CHECK (((length(webhook_url) >= 1) AND (length(webhook_url) <= 2048)))
);

ALTER TABLE sites ALTER COLUMN site_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sites_site_id_seq
    START WITH 5001
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

CREATE TABLE users (
    user_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT users_email_length CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT users_first_name_length CHECK ((length(first_name) <= 100)),
    CONSTRAINT users_last_name_length CHECK ((length(last_name) <= 100)),
    CONSTRAINT users_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT users_password_hash_shape CHECK ((password_hash ~~ '$argon2id$%'::text))
);

CREATE TABLE webhook_secrets (
    secret_id uuid NOT NULL,
    ordinal bigint NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    sealed text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    revoked_at timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT webhook_secrets_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT webhook_secrets_sealed_length CHECK (((length(sealed) >= 1) AND (length(sealed) <= 4096))),
    CONSTRAINT webhook_secrets_version_positive CHECK ((version > 0))
);

ALTER TABLE webhook_secrets ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME webhook_secrets_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY event_log ATTACH PARTITION event_log_default DEFAULT;

ALTER TABLE ONLY inbox ATTACH PARTITION inbox_default DEFAULT;

ALTER TABLE ONLY migrations ALTER COLUMN id SET DEFAULT nextval('migrations_id_seq'::regclass);

ALTER TABLE ONLY migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (customer_reference);

ALTER TABLE ONLY customers
    ADD CONSTRAINT customers_user UNIQUE (user_id);

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

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_one_each UNIQUE NULLS NOT DISTINCT (merchant_id, email, site_id);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (invitation_id);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_token UNIQUE (token_hash);

ALTER TABLE ONLY login_failures
    ADD CONSTRAINT login_failures_pkey PRIMARY KEY (attempt_id, subject);

ALTER TABLE ONLY login_successes
    ADD CONSTRAINT login_successes_pkey PRIMARY KEY (address, email);

ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (mail_id);

ALTER TABLE ONLY merchants
    ADD CONSTRAINT merchants_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY operator_invitations
    ADD CONSTRAINT operator_invitations_email UNIQUE (email);

ALTER TABLE ONLY operator_invitations
    ADD CONSTRAINT operator_invitations_pkey PRIMARY KEY (invitation_id);

ALTER TABLE ONLY operator_invitations
    ADD CONSTRAINT operator_invitations_token UNIQUE (token_hash);

ALTER TABLE ONLY operator_keys
    ADD CONSTRAINT operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (person_id);

ALTER TABLE ONLY organisations
    ADD CONSTRAINT organisations_pkey PRIMARY KEY (organisation_id);

ALTER TABLE ONLY partner_credentials
    ADD CONSTRAINT partner_credentials_pkey PRIMARY KEY (credential_id);

ALTER TABLE ONLY passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_credential UNIQUE (credential_id);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (passkey_id);

ALTER TABLE ONLY people
    ADD CONSTRAINT people_email UNIQUE (email);

ALTER TABLE ONLY people
    ADD CONSTRAINT people_pkey PRIMARY KEY (person_id);

ALTER TABLE ONLY person_roles
    ADD CONSTRAINT person_roles_one_each UNIQUE NULLS NOT DISTINCT (merchant_id, person_id, site_id);

ALTER TABLE ONLY person_sessions
    ADD CONSTRAINT person_sessions_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY person_sessions
    ADD CONSTRAINT person_sessions_token UNIQUE (token_hash);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sealing_key
    ADD CONSTRAINT sealing_key_pkey PRIMARY KEY (only_one);

ALTER TABLE ONLY sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (attempt_id, subject);

ALTER TABLE ONLY sign_in_tokens
    ADD CONSTRAINT sign_in_tokens_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY sites
    ADD CONSTRAINT sites_owner UNIQUE (merchant_id, site_id);

ALTER TABLE ONLY sites
    ADD CONSTRAINT sites_pkey PRIMARY KEY (site_id);

ALTER TABLE ONLY sites
    ADD CONSTRAINT sites_reference UNIQUE (merchant_id, site_reference);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

ALTER TABLE ONLY token_keys
    ADD CONSTRAINT token_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_email UNIQUE (organisation_id, mode, email);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_owner UNIQUE (organisation_id, mode, user_id);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY webhook_secrets
    ADD CONSTRAINT webhook_secrets_pkey PRIMARY KEY (secret_id);

CREATE INDEX api_keys_ending ON api_keys USING btree (ends_at) WHERE ((ends_at IS NOT NULL) AND (revoked_at IS NULL));

CREATE UNIQUE INDEX api_keys_hash ON api_keys USING btree (hash);

CREATE INDEX api_keys_of_owner ON api_keys USING btree (merchant_id, site_id, ordinal);

CREATE UNIQUE INDEX api_keys_one_primary ON api_keys USING btree (merchant_id, site_id, mode) NULLS NOT DISTINCT WHERE is_primary;

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX invitations_expired ON invitations USING btree (expires_at);

CREATE INDEX invitations_of_email ON invitations USING btree (email);

CREATE INDEX login_failures_at ON login_failures USING btree (at);

CREATE INDEX login_failures_of_subject ON login_failures USING btree (subject, at);

CREATE INDEX login_successes_at ON login_successes USING btree (at);

CREATE INDEX login_successes_of_address ON login_successes USING btree (address, at);

CREATE INDEX mails_due ON mails USING btree (due_at) WHERE (state = 'waiting'::text);

CREATE INDEX mails_expired ON mails USING btree (expires_at);

CREATE INDEX mails_of_merchant ON mails USING btree (merchant_id, expires_at);

CREATE INDEX operator_invitations_expired ON operator_invitations USING btree (expires_at);

CREATE INDEX operator_keys_changing ON operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX operator_keys_hash ON operator_keys USING btree (hash);

CREATE INDEX operator_keys_of_person ON operator_keys USING btree (person_id);

CREATE UNIQUE INDEX partner_credentials_hash ON partner_credentials USING btree (hash);

CREATE INDEX partner_credentials_of_owner ON partner_credentials USING btree (organisation_id, kind, ordinal);

CREATE INDEX passkey_challenges_expired ON passkey_challenges USING btree (expires_at);

CREATE INDEX passkey_challenges_of_subject ON passkey_challenges USING btree (subject, expires_at);

CREATE INDEX passkeys_of_person ON passkeys USING btree (person_id, created_at);

CREATE INDEX person_roles_of_person ON person_roles USING btree (person_id);

CREATE INDEX person_sessions_expired ON person_sessions USING btree (expires_at);

CREATE INDEX person_sessions_of_person ON person_sessions USING btree (person_id, created_at);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE INDEX sign_in_failures_at ON sign_in_failures USING btree (at);

CREATE INDEX sign_in_failures_of_subject ON sign_in_failures USING btree (subject, at);

CREATE INDEX sign_in_tokens_expired ON sign_in_tokens USING btree (expires_at);

CREATE INDEX sign_in_tokens_of_person ON sign_in_tokens USING btree (person_id, expires_at);

CREATE INDEX token_keys_order ON token_keys USING btree (signs_from) WHERE (withdrawn_at IS NULL);

CREATE INDEX webhook_secrets_ending ON webhook_secrets USING btree (ends_at) WHERE ((ends_at IS NOT NULL) AND (revoked_at IS NULL));

CREATE INDEX webhook_secrets_of_site ON webhook_secrets USING btree (merchant_id, site_id, ordinal);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_change();

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();

ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(merchant_id);

ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites(merchant_id, site_id);

ALTER TABLE ONLY audit_log
    ADD CONSTRAINT audit_log_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(organisation_id);

ALTER TABLE ONLY customers
    ADD CONSTRAINT customers_user_of_organisation FOREIGN KEY (organisation_id, mode, user_id) REFERENCES users(organisation_id, mode, user_id);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(merchant_id);

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites(merchant_id, site_id);

ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(merchant_id);

ALTER TABLE ONLY operators
    ADD CONSTRAINT operators_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id);

ALTER TABLE ONLY partner_credentials
    ADD CONSTRAINT partner_credentials_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(organisation_id);

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY person_roles
    ADD CONSTRAINT person_roles_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(merchant_id);

ALTER TABLE ONLY person_roles
    ADD CONSTRAINT person_roles_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id);

ALTER TABLE ONLY person_roles
    ADD CONSTRAINT person_roles_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites(merchant_id, site_id);

ALTER TABLE ONLY person_sessions
    ADD CONSTRAINT person_sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY sign_in_tokens
    ADD CONSTRAINT sign_in_tokens_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(person_id) ON DELETE CASCADE;

ALTER TABLE ONLY sites
    ADD CONSTRAINT sites_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(merchant_id);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisations(organisation_id);

ALTER TABLE ONLY webhook_secrets
    ADD CONSTRAINT webhook_secrets_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites(merchant_id, site_id);

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE api_keys TO svc_identity;

GRANT USAGE ON SEQUENCE api_keys_ordinal_seq TO svc_identity;

GRANT SELECT,INSERT ON TABLE audit_log TO svc_identity;

GRANT USAGE ON SEQUENCE audit_log_entry_id_seq TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE customers TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_identity;

GRANT USAGE ON SEQUENCE event_log_position TO svc_identity;

GRANT SELECT,INSERT ON TABLE event_log TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invitations TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operator_keys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE partner_credentials TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_partner_keys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE token_keys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_token_keys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE login_failures TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE login_successes TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE mails TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE merchants TO svc_identity;

GRANT USAGE ON SEQUENCE merchants_merchant_id_seq TO svc_identity;

GRANT SELECT ON TABLE migrations TO svc_identity;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operator_invitations TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE operators TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE organisations TO svc_identity;

GRANT USAGE ON SEQUENCE partner_credentials_ordinal_seq TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE passkey_challenges TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE passkeys TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE people TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_roles TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_sessions TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sealing_key TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sign_in_failures TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sign_in_tokens TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sites TO svc_identity;

GRANT USAGE ON SEQUENCE sites_site_id_seq TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE users TO svc_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhook_secrets TO svc_identity;

GRANT USAGE ON SEQUENCE webhook_secrets_ordinal_seq TO svc_identity;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_identity_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_identity;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_identity_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_identity;
