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

CREATE FUNCTION refuse_attempt_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('started', 'approved'), ('started', 'declined'), ('started', 'notAttempted'), ('started', 'unknown'), ('started', 'reversing'),
                                      ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'notAttempted'), ('unknown', 'reversing'),
                                      ('reversing', 'notAttempted'), ('reversing', 'reversed'),
                                      ('declined', 'reversed'), ('notAttempted', 'reversed')) THEN
      RAISE EXCEPTION 'An attempt cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'attempts_transition';
    END IF;
    RETURN NEW;
  END $$;

CREATE FUNCTION refuse_capture_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('due', 'requested'), ('due', 'captured'), ('due', 'failed'), ('requested', 'due'),
                                      ('requested', 'captured'), ('requested', 'failed'), ('captured', 'failed')) THEN
      RAISE EXCEPTION 'A capture cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'captures_transition';
    END IF;
    RETURN NEW;
  END $$;

CREATE FUNCTION refuse_foreign_transaction() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    RAISE EXCEPTION 'A transfer belongs to the transaction that writes it' USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_txid';
  END $$;

CREATE FUNCTION refuse_ledger_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    RAISE EXCEPTION 'The ledger is append-only' USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
  END $$;

CREATE FUNCTION refuse_payment_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('processing', 'success'), ('processing', 'failed'), ('processing', 'verificationRequired'),
                                      ('verificationRequired', 'processing'), ('verificationRequired', 'failed')) THEN
      RAISE EXCEPTION 'A payment cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'payments_transition';
    END IF;
    RETURN NEW;
  END $$;

CREATE FUNCTION refuse_refund_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    RAISE EXCEPTION 'A refund that is % does not change like this', OLD.state USING ERRCODE = 'check_violation', CONSTRAINT = 'refunds_transition';
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

CREATE TABLE acquirer_reports (
    report_id uuid NOT NULL,
    acquirer text NOT NULL,
    mode text NOT NULL,
    duplicate_key text NOT NULL,
    report jsonb NOT NULL,
    received_at timestamp with time zone NOT NULL,
    applications integer NOT NULL,
    next_apply_at timestamp with time zone,
    effect text,
    note text,
    CONSTRAINT acquirer_reports_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT acquirer_reports_duplicate_key CHECK (((length(duplicate_key) >= 1) AND (length(duplicate_key) <= 400))),
    CONSTRAINT acquirer_reports_effect CHECK ((effect = ANY (ARRAY['applied'::text, 'none'::text, 'incident'::text, 'ignored'::text]))),
    CONSTRAINT acquirer_reports_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT acquirer_reports_note CHECK (((length(note) >= 1) AND (length(note) <= 500))),
    CONSTRAINT acquirer_reports_open CHECK (((next_apply_at IS NULL) = (effect IS NOT NULL)))
);

CREATE TABLE attacked_sites (
    mode text NOT NULL,
    site_id bigint NOT NULL,
    merchant_id bigint NOT NULL,
    level integer NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    CONSTRAINT attacked_sites_level CHECK (((level >= 0) AND (level <= 3))),
    CONSTRAINT attacked_sites_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT attacked_sites_version CHECK ((version > 0))
);

CREATE TABLE attempts (
    attempt_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    acquirer text NOT NULL,
    account text NOT NULL,
    state text NOT NULL,
    acquirer_reference text,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    queries integer NOT NULL,
    queried_at timestamp with time zone,
    next_query_at timestamp with time zone,
    velocity_keys text[] COLLATE pg_catalog."C",
    CONSTRAINT attempts_account CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT attempts_open CHECK ((((state = ANY (ARRAY['started'::text, 'unknown'::text, 'reversing'::text])) = (next_query_at IS NOT NULL)) AND ((state = ANY (ARRAY['started'::text, 'unknown'::text, 'reversing'::text])) = (ended_at IS NULL)))),
    CONSTRAINT attempts_state CHECK ((state = ANY (ARRAY['started'::text, 'unknown'::text, 'reversing'::text, 'approved'::text, 'declined'::text, 'notAttempted'::text, 'reversed'::text]))),
    CONSTRAINT attempts_velocity_keys CHECK (((cardinality(velocity_keys) >= 1) AND (cardinality(velocity_keys) <= 8)))
);

CREATE TABLE captures (
    attempt_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    amount bigint NOT NULL,
    state text NOT NULL,
    acquirer_reference text,
    created_at timestamp with time zone NOT NULL,
    requests integer NOT NULL,
    key_number integer NOT NULL,
    next_request_at timestamp with time zone,
    ended_at timestamp with time zone,
    captured_at timestamp with time zone,
    failure text,
    next_release_at timestamp with time zone,
    released_at timestamp with time zone,
    CONSTRAINT captures_acquirer_reference CHECK (((length(acquirer_reference) >= 1) AND (length(acquirer_reference) <= 100))),
    CONSTRAINT captures_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT captures_captured CHECK (((captured_at IS NOT NULL) OR (state <> 'captured'::text))),
    CONSTRAINT captures_failure CHECK ((failure = ANY (ARRAY['cardScheme'::text, 'rejected'::text]))),
    CONSTRAINT captures_has_failure CHECK (((state = 'failed'::text) = (failure IS NOT NULL))),
    CONSTRAINT captures_key_number CHECK ((key_number > 0)),
    CONSTRAINT captures_open CHECK ((((state = ANY (ARRAY['due'::text, 'requested'::text])) = (next_request_at IS NOT NULL)) AND ((next_request_at IS NULL) = (ended_at IS NOT NULL)))),
    CONSTRAINT captures_release CHECK (((num_nonnulls(next_release_at, released_at) = 0) OR ((NOT (failure IS DISTINCT FROM 'rejected'::text)) AND (num_nonnulls(next_release_at, released_at) = 1)))),
    CONSTRAINT captures_state CHECK ((state = ANY (ARRAY['due'::text, 'requested'::text, 'captured'::text, 'failed'::text])))
);

CREATE TABLE card_keys (
    kid uuid NOT NULL,
    version bigint NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private_key text,
    current boolean,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    replaced_at timestamp with time zone,
    CONSTRAINT card_keys_created_by CHECK (((length(created_by) >= 1) AND (length(created_by) <= 100))),
    CONSTRAINT card_keys_current CHECK (current),
    CONSTRAINT card_keys_current_opens CHECK (((current IS NULL) OR (sealed_private_key IS NOT NULL))),
    CONSTRAINT card_keys_replaced CHECK (((current IS NULL) = (replaced_at IS NOT NULL)))
);

CREATE TABLE cards (
    token text NOT NULL,
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    customer_reference uuid,
    acquirer text NOT NULL,
    vault_token text NOT NULL,
    vault_account text,
    card_mask text NOT NULL,
    fingerprint text NOT NULL,
    range_fingerprint text NOT NULL,
    other_fingerprint text,
    stored_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    next_vault_delete_at timestamp with time zone,
    vault_deleted_at timestamp with time zone,
    CONSTRAINT cards_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT cards_fingerprint CHECK ((fingerprint ~ '^[A-Za-z0-9_-]{22}$'::text)),
    CONSTRAINT cards_mask CHECK ((card_mask ~ '^[*]{4} [0-9]{4}$'::text)),
    CONSTRAINT cards_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT cards_next_vault_delete CHECK (((next_vault_delete_at IS NOT NULL) = ((deleted_at IS NOT NULL) AND (vault_deleted_at IS NULL)))),
    CONSTRAINT cards_other_fingerprint CHECK ((other_fingerprint ~ '^[A-Za-z0-9_-]{22}$'::text)),
    CONSTRAINT cards_range_fingerprint CHECK ((range_fingerprint ~ '^[A-Za-z0-9_-]{22}$'::text)),
    CONSTRAINT cards_token CHECK (((length(token) >= 1) AND (length(token) <= 100))),
    CONSTRAINT cards_vault_account CHECK (((length(vault_account) >= 1) AND (length(vault_account) <= 100))),
    CONSTRAINT cards_vault_deleted CHECK (((vault_deleted_at IS NULL) OR (deleted_at IS NOT NULL))),
    CONSTRAINT cards_vault_token CHECK (((length(vault_token) >= 1) AND (length(vault_token) <= 100)))
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

CREATE TABLE dispute_changes (
    change_id uuid NOT NULL,
    dispute_id uuid NOT NULL,
    version bigint NOT NULL,
    stage text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    respond_by timestamp with time zone,
    changed_at timestamp with time zone NOT NULL
);

CREATE TABLE dispute_incidents (
    acquirer text NOT NULL,
    mode text NOT NULL,
    report_reference text NOT NULL COLLATE pg_catalog."C",
    problem text NOT NULL,
    dispute_reference text NOT NULL,
    report text NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    occurrences integer NOT NULL,
    CONSTRAINT dispute_incidents_acquirer CHECK ((length(acquirer) <= 100)),
    CONSTRAINT dispute_incidents_dispute_reference CHECK ((length(dispute_reference) <= 100)),
    CONSTRAINT dispute_incidents_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT dispute_incidents_occurrences CHECK ((occurrences > 0)),
    CONSTRAINT dispute_incidents_problem CHECK ((length(problem) <= 100)),
    CONSTRAINT dispute_incidents_report CHECK ((length(report) <= 2000)),
    CONSTRAINT dispute_incidents_report_reference CHECK ((length(report_reference) <= 100))
);

CREATE TABLE dispute_reports (
    report_id uuid NOT NULL,
    dispute_id uuid NOT NULL,
    acquirer text NOT NULL,
    mode text NOT NULL,
    report_reference text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    respond_by timestamp with time zone,
    occurred_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    booked_at timestamp with time zone,
    CONSTRAINT dispute_reports_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT dispute_reports_booked CHECK (((booked_at IS NULL) OR (kind = ANY (ARRAY['debited'::text, 'reversed'::text, 'debitedAgain'::text])))),
    CONSTRAINT dispute_reports_kind CHECK ((kind = ANY (ARRAY['inquiry'::text, 'opened'::text, 'debited'::text, 'reversed'::text, 'debitedAgain'::text, 'preArbitrationOpened'::text, 'defended'::text, 'defencePeriodEnded'::text, 'commented'::text, 'won'::text, 'lost'::text]))),
    CONSTRAINT dispute_reports_reason CHECK ((length(reason) <= 200)),
    CONSTRAINT dispute_reports_reference CHECK (((length(report_reference) >= 1) AND (length(report_reference) <= 100)))
);

CREATE TABLE disputes (
    dispute_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    mode text NOT NULL,
    acquirer text NOT NULL,
    acquirer_reference text NOT NULL,
    stage text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    respond_by timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT disputes_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT disputes_acquirer_reference CHECK (((length(acquirer_reference) >= 1) AND (length(acquirer_reference) <= 100))),
    CONSTRAINT disputes_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT disputes_deadline CHECK (((respond_by IS NULL) OR (stage <> ALL (ARRAY['won'::text, 'lost'::text])))),
    CONSTRAINT disputes_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT disputes_reason CHECK ((length(reason) <= 200)),
    CONSTRAINT disputes_stage CHECK ((stage = ANY (ARRAY['inquiry'::text, 'opened'::text, 'debited'::text, 'reversed'::text, 'won'::text, 'lost'::text]))),
    CONSTRAINT disputes_version CHECK ((version > 0))
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

CREATE TABLE incidents (
    attempt_id uuid NOT NULL,
    attempt_state text NOT NULL,
    response text NOT NULL,
    acquirer_reference text,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    occurrences integer NOT NULL,
    CONSTRAINT incidents_occurrences CHECK ((occurrences > 0))
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

CREATE TABLE known_customers (
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    customer_reference uuid NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT known_customers_first_name CHECK ((length(first_name) <= 100)),
    CONSTRAINT known_customers_last_name CHECK ((length(last_name) <= 100)),
    CONSTRAINT known_customers_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT known_customers_version CHECK ((version > 0))
);

CREATE TABLE known_merchants (
    merchant_id bigint NOT NULL,
    name text NOT NULL,
    features jsonb NOT NULL,
    grants jsonb NOT NULL,
    minimum_amount bigint NOT NULL,
    maximum_amount bigint,
    fees jsonb NOT NULL,
    version bigint NOT NULL,
    time_zones jsonb DEFAULT '[{"zone": "Africa/Johannesburg"}]'::jsonb NOT NULL,
    CONSTRAINT known_merchants_fees CHECK (((NOT (fees @? '$.*."basisPoints"?(@ < 0 || @ > 1000)'::jsonpath)) AND (NOT (fees @? '$.*."fixedAmount"?(@ < 0 || @ > 10000)'::jsonpath)))),
    CONSTRAINT known_merchants_maximum_amount CHECK (((maximum_amount >= 1) AND (maximum_amount <= '100000000000'::bigint))),
    CONSTRAINT known_merchants_minimum_amount CHECK (((minimum_amount >= 1) AND (minimum_amount <= '100000000000'::bigint))),
    CONSTRAINT known_merchants_time_zones CHECK (((jsonb_typeof(time_zones) = 'array'::text) AND ((jsonb_array_length(time_zones) >= 1) AND (jsonb_array_length(time_zones) <= 100))))
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
    site_id bigint NOT NULL,
    merchant_id bigint NOT NULL,
    site_reference text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE known_token_keys (
    kid uuid NOT NULL,
    public_jwk jsonb NOT NULL,
    withdrawn boolean NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE ledger_closings (
    closed_until timestamp with time zone NOT NULL,
    seal_number bigint NOT NULL,
    root bytea NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_closings_quarter_hour CHECK (((EXTRACT(epoch FROM closed_until) % (900)::numeric) = (0)::numeric)),
    CONSTRAINT ledger_closings_root CHECK ((octet_length(root) = 32)),
    CONSTRAINT ledger_closings_seal_number CHECK ((seal_number >= 0))
);

CREATE TABLE ledger_seals (
    seal_number bigint NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    last_txid xid8 NOT NULL,
    last_position bigint NOT NULL,
    transfer_count integer NOT NULL,
    transfer_ids uuid[] NOT NULL,
    transfer_hashes bytea[] NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_seals_hash CHECK ((octet_length(hash) = 32)),
    CONSTRAINT ledger_seals_number CHECK ((seal_number > 0)),
    CONSTRAINT ledger_seals_previous_hash CHECK ((octet_length(previous_hash) = 32)),
    CONSTRAINT ledger_seals_transfer_count CHECK (((transfer_count >= 1) AND (transfer_count <= 10000))),
    CONSTRAINT ledger_seals_transfer_hashes CHECK ((cardinality(transfer_hashes) = transfer_count)),
    CONSTRAINT ledger_seals_transfer_ids CHECK ((cardinality(transfer_ids) = transfer_count))
);

CREATE TABLE merchant_accounts (
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    version bigint NOT NULL,
    acquirer text NOT NULL,
    account text NOT NULL,
    set_at timestamp with time zone NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT merchant_accounts_account CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT merchant_accounts_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT merchant_accounts_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT merchant_accounts_set_by CHECK (((length(set_by) >= 1) AND (length(set_by) <= 100))),
    CONSTRAINT merchant_accounts_version CHECK ((version > 0))
);

CREATE TABLE merchant_balances (
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    site_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    amounts jsonb NOT NULL,
    CONSTRAINT merchant_balances_amounts CHECK ((jsonb_typeof(amounts) = 'array'::text)),
    CONSTRAINT merchant_balances_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT merchant_balances_month CHECK ((at = date_trunc('month'::text, at, 'UTC'::text)))
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

CREATE TABLE partner_references (
    organisation_id uuid NOT NULL,
    mode text NOT NULL,
    reference uuid NOT NULL,
    fingerprint text NOT NULL,
    payment_id uuid NOT NULL,
    CONSTRAINT partner_references_fingerprint CHECK ((length(fingerprint) = 64)),
    CONSTRAINT partner_references_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE payables (
    payable_id uuid NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    max_payments integer NOT NULL,
    source jsonb NOT NULL,
    state text NOT NULL,
    holder uuid,
    payment_count integer NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    CONSTRAINT payables_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT payables_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payables_holder CHECK (((state = ANY (ARRAY['reserved'::text, 'paid'::text])) = (holder IS NOT NULL))),
    CONSTRAINT payables_max_payments CHECK (((max_payments >= 1) AND (max_payments <= 100))),
    CONSTRAINT payables_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payables_payment_count CHECK (((payment_count >= 0) AND (payment_count <= max_payments))),
    CONSTRAINT payables_state CHECK ((state = ANY (ARRAY['open'::text, 'reserved'::text, 'paid'::text, 'refused'::text, 'closed'::text])))
)
WITH (fillfactor='60');

CREATE TABLE payments (
    payment_id uuid NOT NULL,
    payable_id uuid NOT NULL,
    reference uuid NOT NULL,
    payment_reference text NOT NULL,
    amount bigint NOT NULL,
    tip_amount bigint NOT NULL,
    voucher_amount bigint NOT NULL,
    fee_basis_points integer NOT NULL,
    fee_fixed_amount bigint NOT NULL,
    method_type text NOT NULL,
    method_label text NOT NULL,
    merchant_name text NOT NULL,
    site_reference text NOT NULL,
    partner jsonb,
    accepted_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    processed_amount bigint NOT NULL,
    refunded_amount bigint DEFAULT 0 NOT NULL,
    refund_pending_amount bigint DEFAULT 0 NOT NULL,
    errors jsonb NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    version bigint NOT NULL,
    is_active boolean GENERATED ALWAYS AS ((state = ANY (ARRAY['processing'::text, 'success'::text]))) STORED NOT NULL,
    CONSTRAINT payments_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT payments_errors CHECK (((state = 'failed'::text) = (jsonb_array_length(errors) > 0))),
    CONSTRAINT payments_fee CHECK ((((fee_basis_points >= 0) AND (fee_basis_points <= 1000)) AND ((fee_fixed_amount >= 0) AND (fee_fixed_amount <= 10000)))),
    CONSTRAINT payments_merchant_name CHECK ((length(merchant_name) <= 100)),
    CONSTRAINT payments_method_label CHECK (
CASE method_type
    WHEN 'Card'::text THEN (method_label ~ '^[*]{4} [0-9]{4}$'::text)
    ELSE ((length(method_label) >= 1) AND (length(method_label) <= 100))
END),
    CONSTRAINT payments_method_type CHECK ((method_type = ANY (ARRAY['Card'::text, 'External'::text, 'Voucher'::text]))),
    CONSTRAINT payments_partners CHECK (((partner IS NOT NULL) OR ((method_type = 'Card'::text) AND (voucher_amount = 0)))),
    CONSTRAINT payments_processed CHECK ((processed_amount =
CASE
    WHEN (state = 'success'::text) THEN ((amount - voucher_amount) + tip_amount)
    ELSE (0)::bigint
END)),
    CONSTRAINT payments_refunds CHECK (((refunded_amount >= 0) AND (refund_pending_amount >= 0) AND ((refunded_amount + refund_pending_amount) <= processed_amount))),
    CONSTRAINT payments_site_reference CHECK ((length(site_reference) <= 100)),
    CONSTRAINT payments_state CHECK ((state = ANY (ARRAY['processing'::text, 'success'::text, 'failed'::text, 'verificationRequired'::text]))),
    CONSTRAINT payments_tip_amount CHECK (((tip_amount >= 0) AND (tip_amount <= '100000000000'::bigint))),
    CONSTRAINT payments_voucher_amount CHECK (((voucher_amount >= 0) AND (voucher_amount <= amount)))
)
WITH (fillfactor='55');

CREATE TABLE reconciliations (
    run_id uuid NOT NULL,
    day date NOT NULL,
    merchant_id bigint,
    night date,
    state text NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    starts integer DEFAULT 0 NOT NULL,
    leased_until timestamp with time zone,
    watermark timestamp with time zone,
    ended_at timestamp with time zone,
    differences bigint,
    open bigint,
    is_whole_day boolean,
    result json,
    failure text,
    CONSTRAINT reconciliations_ended CHECK (((state = ANY (ARRAY['done'::text, 'failed'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT reconciliations_failure CHECK ((length(failure) <= 500)),
    CONSTRAINT reconciliations_lease CHECK (((state = 'running'::text) = (leased_until IS NOT NULL))),
    CONSTRAINT reconciliations_result CHECK (((state = 'done'::text) = (num_nulls(result, differences, open, is_whole_day) = 0))),
    CONSTRAINT reconciliations_state CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

CREATE TABLE refund_idempotency_keys (
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL,
    refund_id uuid NOT NULL,
    CONSTRAINT refund_idempotency_keys_fingerprint CHECK ((length(fingerprint) = 64)),
    CONSTRAINT refund_idempotency_keys_key CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 100))),
    CONSTRAINT refund_idempotency_keys_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE refund_incidents (
    refund_id uuid NOT NULL,
    refund_state text NOT NULL,
    response text NOT NULL,
    acquirer_reference text,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    occurrences integer NOT NULL,
    CONSTRAINT refund_incidents_occurrences CHECK ((occurrences > 0))
);

CREATE TABLE refunds (
    refund_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    amount bigint NOT NULL,
    reason text,
    requested_by uuid NOT NULL,
    state text NOT NULL,
    acquirer_reference text,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    returned_at timestamp with time zone,
    uncertain_since timestamp with time zone,
    queries integer NOT NULL,
    queried_at timestamp with time zone,
    next_query_at timestamp with time zone,
    CONSTRAINT refunds_acquirer_reference CHECK (((length(acquirer_reference) >= 1) AND (length(acquirer_reference) <= 100))),
    CONSTRAINT refunds_amount CHECK (((amount >= 1) AND (amount <= '100000000000'::bigint))),
    CONSTRAINT refunds_pending CHECK ((((state = 'pending'::text) = (next_query_at IS NOT NULL)) AND ((state = 'pending'::text) = (ended_at IS NULL)))),
    CONSTRAINT refunds_reason CHECK (((length(reason) >= 1) AND (length(reason) <= 200))),
    CONSTRAINT refunds_returned CHECK (((returned_at IS NULL) OR (state = 'failed'::text))),
    CONSTRAINT refunds_state CHECK ((state = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
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

CREATE TABLE reversals (
    attempt_id uuid NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    next_request_at timestamp with time zone,
    confirmed_at timestamp with time zone,
    found_charge boolean,
    holds_money boolean NOT NULL,
    approval_seen boolean NOT NULL,
    CONSTRAINT reversals_open CHECK ((((next_request_at IS NULL) = (confirmed_at IS NOT NULL)) AND ((found_charge IS NULL) = (confirmed_at IS NULL))))
);

CREATE TABLE settlement_batches (
    acquirer text NOT NULL,
    mode text NOT NULL,
    account text NOT NULL,
    batch bigint NOT NULL,
    report_id uuid NOT NULL,
    CONSTRAINT settlement_batches_account CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT settlement_batches_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT settlement_batches_batch CHECK (((batch >= 0) AND (batch <= '999999999999'::bigint))),
    CONSTRAINT settlement_batches_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE settlement_lines (
    line_id uuid NOT NULL,
    report_id uuid NOT NULL,
    acquirer text NOT NULL,
    mode text NOT NULL,
    account text NOT NULL,
    batch bigint NOT NULL,
    line_number integer NOT NULL,
    merchant_id bigint NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    payment_id uuid,
    movement_id uuid,
    dispute_report_reference text COLLATE pg_catalog."C",
    payment_reference text,
    acquirer_reference text,
    currency text,
    gross_amount bigint,
    net_amount bigint,
    fee_amount bigint,
    commission bigint,
    markup bigint,
    scheme_fees bigint,
    interchange bigint,
    problem text,
    is_matched boolean NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT settlement_lines_account CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT settlement_lines_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT settlement_lines_acquirer_reference CHECK ((length(acquirer_reference) <= 100)),
    CONSTRAINT settlement_lines_batch CHECK (((batch >= 0) AND (batch <= '999999999999'::bigint))),
    CONSTRAINT settlement_lines_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT settlement_lines_dispute_report_reference CHECK ((length(dispute_report_reference) <= 200)),
    CONSTRAINT settlement_lines_kind CHECK ((kind = ANY (ARRAY['capture'::text, 'captureReversal'::text, 'refund'::text, 'refundReturn'::text, 'dispute'::text, 'disputeReversal'::text, 'fee'::text, 'payout'::text, 'balance'::text, 'unknown'::text]))),
    CONSTRAINT settlement_lines_line_number CHECK ((line_number > 0)),
    CONSTRAINT settlement_lines_matched CHECK ((NOT (is_matched AND ((kind = 'unknown'::text) OR (problem IS NOT NULL))))),
    CONSTRAINT settlement_lines_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT settlement_lines_payment_reference CHECK ((length(payment_reference) <= 100)),
    CONSTRAINT settlement_lines_problem CHECK (((length(problem) >= 1) AND (length(problem) <= 200))),
    CONSTRAINT settlement_lines_type CHECK ((length(type) <= 100))
);

CREATE TABLE statement_lines (
    run_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    kind text NOT NULL,
    idempotency_key text NOT NULL,
    acquirer text NOT NULL,
    account text NOT NULL,
    acquirer_reference text,
    payment_reference text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    open boolean NOT NULL
);

CREATE TABLE subscribed_types (
    type text NOT NULL,
    replay_id uuid NOT NULL,
    backfilled_at timestamp with time zone,
    next_replay_id uuid,
    renewed_at timestamp with time zone NOT NULL
);

CREATE TABLE transfers (
    transfer_id uuid NOT NULL,
    kind text NOT NULL,
    debit_account text NOT NULL,
    credit_account text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    payment_id uuid,
    attempt_id uuid,
    refund_id uuid,
    dispute_report_id uuid,
    settlement_line_id uuid,
    created_at timestamp with time zone NOT NULL,
    txid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT transfers_accounts_differ CHECK ((debit_account <> credit_account)),
    CONSTRAINT transfers_amount CHECK ((amount > 0)),
    CONSTRAINT transfers_attempt CHECK (((kind = ANY (ARRAY['lateApproval'::text, 'reversal'::text, 'feeReversal'::text])) = (attempt_id IS NOT NULL))),
    CONSTRAINT transfers_currency CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT transfers_dispute CHECK (((kind = ANY (ARRAY['dispute'::text, 'disputeReversal'::text])) = (dispute_report_id IS NOT NULL))),
    CONSTRAINT transfers_kind CHECK ((kind = ANY (ARRAY['capture'::text, 'fee'::text, 'external'::text, 'voucher'::text, 'refund'::text, 'refundReturn'::text, 'lateApproval'::text, 'reversal'::text, 'feeReversal'::text, 'dispute'::text, 'disputeReversal'::text, 'acquirerFee'::text, 'acquirerPayout'::text]))),
    CONSTRAINT transfers_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT transfers_payment CHECK (((payment_id IS NOT NULL) OR (settlement_line_id IS NOT NULL))),
    CONSTRAINT transfers_refund CHECK (((kind = ANY (ARRAY['refund'::text, 'refundReturn'::text])) = (refund_id IS NOT NULL))),
    CONSTRAINT transfers_settlement_line CHECK (((kind = ANY (ARRAY['acquirerFee'::text, 'acquirerPayout'::text])) = (settlement_line_id IS NOT NULL)))
);

ALTER TABLE transfers ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME transfers_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE velocity_counters (
    counter_key text NOT NULL COLLATE pg_catalog."C",
    in_flight uuid[] NOT NULL,
    declined_at timestamp with time zone[] NOT NULL,
    approvals integer[] NOT NULL,
    declined_cards integer[] NOT NULL,
    reset_at timestamp with time zone,
    closed_until timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT velocity_counters_approvals CHECK ((cardinality(approvals) = cardinality(declined_at))),
    CONSTRAINT velocity_counters_declined_at CHECK ((cardinality(declined_at) <= 100)),
    CONSTRAINT velocity_counters_declined_cards CHECK ((cardinality(declined_cards) = cardinality(declined_at))),
    CONSTRAINT velocity_counters_in_flight CHECK ((cardinality(in_flight) <= 200)),
    CONSTRAINT velocity_counters_key CHECK ((counter_key ~ '^(card|range|address|organisation|site):[A-Za-z0-9_:-]{1,60}$'::text))
)
WITH (fillfactor='70');

CREATE TABLE velocity_policies (
    merchant_id bigint NOT NULL,
    mode text NOT NULL,
    version bigint NOT NULL,
    enabled boolean NOT NULL,
    limits jsonb NOT NULL,
    set_at timestamp with time zone NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT velocity_policies_limits CHECK (((jsonb_typeof(limits) = 'object'::text) AND (NOT (limits @? '$.*?(@ < 1 || @ > 100)'::jsonpath)))),
    CONSTRAINT velocity_policies_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT velocity_policies_set_by CHECK (((length(set_by) >= 1) AND (length(set_by) <= 100))),
    CONSTRAINT velocity_policies_version CHECK ((version > 0))
);

CREATE TABLE verifications (
    payment_id uuid NOT NULL,
    acquirer text NOT NULL,
    account text NOT NULL,
    challenge_reference text,
    challenge_url text NOT NULL,
    card_token text,
    payer_return_url text,
    result text,
    expires_at timestamp with time zone NOT NULL,
    open boolean NOT NULL,
    queried_at timestamp with time zone,
    next_query_at timestamp with time zone,
    CONSTRAINT verifications_account CHECK (((length(account) >= 1) AND (length(account) <= 100))),
    CONSTRAINT verifications_acquirer CHECK (((length(acquirer) >= 1) AND (length(acquirer) <= 100))),
    CONSTRAINT verifications_card CHECK (((challenge_reference IS NOT NULL) OR (card_token IS NOT NULL))),
    CONSTRAINT verifications_challenge_reference CHECK (((length(challenge_reference) >= 1) AND (length(challenge_reference) <= 100))),
    CONSTRAINT verifications_challenge_url CHECK (((length(challenge_url) >= 1) AND (length(challenge_url) <= 2048))),
    CONSTRAINT verifications_payer_return_url CHECK (((length(payer_return_url) >= 1) AND (length(payer_return_url) <= 20000))),
    CONSTRAINT verifications_result CHECK (((length(result) >= 1) AND (length(result) <= 20000)))
);

ALTER TABLE ONLY event_log ATTACH PARTITION event_log_default DEFAULT;

ALTER TABLE ONLY inbox ATTACH PARTITION inbox_default DEFAULT;

ALTER TABLE ONLY migrations ALTER COLUMN id SET DEFAULT nextval('migrations_id_seq'::regclass);

ALTER TABLE ONLY migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY acquirer_reports
    ADD CONSTRAINT acquirer_reports_once UNIQUE (acquirer, mode, duplicate_key);

ALTER TABLE ONLY acquirer_reports
    ADD CONSTRAINT acquirer_reports_pkey PRIMARY KEY (report_id);

ALTER TABLE ONLY attacked_sites
    ADD CONSTRAINT attacked_sites_pkey PRIMARY KEY (mode, site_id);

ALTER TABLE ONLY attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY captures
    ADD CONSTRAINT captures_payment UNIQUE (payment_id);

ALTER TABLE ONLY captures
    ADD CONSTRAINT captures_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY card_keys
    ADD CONSTRAINT card_keys_one_current UNIQUE (current);

ALTER TABLE ONLY card_keys
    ADD CONSTRAINT card_keys_one_version UNIQUE (version);

ALTER TABLE ONLY card_keys
    ADD CONSTRAINT card_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY cards
    ADD CONSTRAINT cards_pkey PRIMARY KEY (token);

ALTER TABLE ONLY dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY deferred_events
    ADD CONSTRAINT deferred_events_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY dispute_changes
    ADD CONSTRAINT dispute_changes_once UNIQUE (dispute_id, version);

ALTER TABLE ONLY dispute_changes
    ADD CONSTRAINT dispute_changes_pkey PRIMARY KEY (change_id);

ALTER TABLE ONLY dispute_incidents
    ADD CONSTRAINT dispute_incidents_pkey PRIMARY KEY (acquirer, mode, report_reference, problem);

ALTER TABLE ONLY dispute_reports
    ADD CONSTRAINT dispute_reports_once UNIQUE (acquirer, mode, report_reference);

ALTER TABLE ONLY dispute_reports
    ADD CONSTRAINT dispute_reports_pkey PRIMARY KEY (report_id);

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_one_each UNIQUE (acquirer, mode, acquirer_reference);

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_pkey PRIMARY KEY (dispute_id);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (attempt_id, attempt_state, response);

ALTER TABLE ONLY known_api_keys
    ADD CONSTRAINT known_api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_customers
    ADD CONSTRAINT known_customers_pkey PRIMARY KEY (organisation_id, mode, customer_reference);

ALTER TABLE ONLY known_merchants
    ADD CONSTRAINT known_merchants_pkey PRIMARY KEY (merchant_id);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_partner_keys
    ADD CONSTRAINT known_partner_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY known_sites
    ADD CONSTRAINT known_sites_pkey PRIMARY KEY (site_id);

ALTER TABLE ONLY known_token_keys
    ADD CONSTRAINT known_token_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY ledger_closings
    ADD CONSTRAINT ledger_closings_pkey PRIMARY KEY (closed_until);

ALTER TABLE ONLY ledger_seals
    ADD CONSTRAINT ledger_seals_pkey PRIMARY KEY (seal_number);

ALTER TABLE ONLY merchant_accounts
    ADD CONSTRAINT merchant_accounts_pkey PRIMARY KEY (merchant_id, mode, version);

ALTER TABLE ONLY merchant_balances
    ADD CONSTRAINT merchant_balances_pkey PRIMARY KEY (merchant_id, mode, site_id, at);

ALTER TABLE ONLY partner_references
    ADD CONSTRAINT partner_references_payment UNIQUE (payment_id);

ALTER TABLE ONLY partner_references
    ADD CONSTRAINT partner_references_pkey PRIMARY KEY (organisation_id, mode, reference);

ALTER TABLE ONLY payables
    ADD CONSTRAINT payables_pkey PRIMARY KEY (payable_id);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_idempotency UNIQUE (payable_id, reference);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_payment_reference UNIQUE (payment_reference);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (payment_id);

ALTER TABLE ONLY reconciliations
    ADD CONSTRAINT reconciliations_night UNIQUE (night, day);

ALTER TABLE ONLY reconciliations
    ADD CONSTRAINT reconciliations_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY refund_idempotency_keys
    ADD CONSTRAINT refund_idempotency_keys_pkey PRIMARY KEY (merchant_id, mode, idempotency_key);

ALTER TABLE ONLY refund_idempotency_keys
    ADD CONSTRAINT refund_idempotency_keys_refund UNIQUE (refund_id);

ALTER TABLE ONLY refund_incidents
    ADD CONSTRAINT refund_incidents_pkey PRIMARY KEY (refund_id, refund_state, response);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (refund_id);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY reversals
    ADD CONSTRAINT reversals_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY settlement_batches
    ADD CONSTRAINT settlement_batches_of_report UNIQUE (report_id, acquirer, mode, account, batch);

ALTER TABLE ONLY settlement_batches
    ADD CONSTRAINT settlement_batches_pkey PRIMARY KEY (acquirer, mode, account, batch);

ALTER TABLE ONLY settlement_lines
    ADD CONSTRAINT settlement_lines_once UNIQUE (acquirer, mode, account, batch, line_number);

ALTER TABLE ONLY settlement_lines
    ADD CONSTRAINT settlement_lines_pkey PRIMARY KEY (line_id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (transfer_id);

ALTER TABLE ONLY velocity_counters
    ADD CONSTRAINT velocity_counters_pkey PRIMARY KEY (counter_key);

ALTER TABLE ONLY velocity_policies
    ADD CONSTRAINT velocity_policies_pkey PRIMARY KEY (merchant_id, mode, version);

ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (payment_id);

CREATE INDEX acquirer_reports_applied ON acquirer_reports USING btree (received_at) WHERE ((next_apply_at IS NULL) AND ((report ->> 'kind'::text) <> 'statement'::text));

CREATE INDEX acquirer_reports_due ON acquirer_reports USING btree (next_apply_at) WHERE (next_apply_at IS NOT NULL);

CREATE INDEX acquirer_reports_statements ON acquirer_reports USING btree (received_at) WHERE ((report ->> 'kind'::text) = 'statement'::text);

CREATE INDEX acquirer_reports_unexpected ON acquirer_reports USING btree (received_at) WHERE (effect = ANY (ARRAY['incident'::text, 'ignored'::text]));

CREATE INDEX attacked_sites_now ON attacked_sites USING btree (ends_at);

CREATE INDEX attempts_by_start ON attempts USING brin (started_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX attempts_due ON attempts USING btree (acquirer, next_query_at) WHERE (next_query_at IS NOT NULL);

CREATE UNIQUE INDEX attempts_one_open ON attempts USING btree (payment_id, (
CASE
    WHEN (state = ANY (ARRAY['started'::text, 'unknown'::text, 'reversing'::text, 'approved'::text])) THEN NULL::uuid
    ELSE attempt_id
END)) NULLS NOT DISTINCT;

CREATE INDEX attempts_reversed ON attempts USING btree (ended_at) WHERE (state = 'reversed'::text);

CREATE INDEX attempts_with_ended_counters ON attempts USING btree (ended_at) WHERE ((velocity_keys IS NOT NULL) AND (ended_at IS NOT NULL));

CREATE INDEX captures_due ON captures USING btree (next_request_at) WHERE (next_request_at IS NOT NULL);

CREATE INDEX captures_failed ON captures USING btree (ended_at) WHERE (state = 'failed'::text);

CREATE INDEX captures_to_release ON captures USING btree (next_release_at) WHERE (next_release_at IS NOT NULL);

CREATE INDEX cards_fingerprint ON cards USING btree (fingerprint);

CREATE INDEX cards_vault_deletes_due ON cards USING btree (acquirer, next_vault_delete_at) WHERE (next_vault_delete_at IS NOT NULL);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX dispute_incidents_newest ON dispute_incidents USING btree (last_seen_at);

CREATE INDEX dispute_incidents_of_dispute ON dispute_incidents USING btree (acquirer, mode, dispute_reference);

CREATE INDEX dispute_reports_by_booking ON dispute_reports USING btree (booked_at) WHERE (booked_at IS NOT NULL);

CREATE UNIQUE INDEX dispute_reports_movements ON dispute_reports USING btree (dispute_id, kind) WHERE (kind = ANY (ARRAY['debited'::text, 'reversed'::text, 'debitedAgain'::text]));

CREATE INDEX dispute_reports_of_dispute ON dispute_reports USING btree (dispute_id, report_id);

CREATE INDEX disputes_of_payment ON disputes USING btree (payment_id, dispute_id);

CREATE INDEX disputes_open ON disputes USING btree (respond_by, dispute_id) WHERE (stage <> ALL (ARRAY['won'::text, 'lost'::text]));

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys USING btree (hash);

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE UNIQUE INDEX known_partner_keys_hash ON known_partner_keys USING btree (hash);

CREATE INDEX ledger_closings_of_seal ON ledger_closings USING btree (seal_number);

CREATE INDEX merchant_accounts_of_account ON merchant_accounts USING btree (acquirer, mode, account);

CREATE INDEX payables_by_code ON payables USING btree (((source ->> 'code'::text)));

CREATE INDEX payments_by_acceptance ON payments USING brin (accepted_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX payments_by_change ON payments USING brin (modified_at) WITH (pages_per_range='32', autosummarize='on');

CREATE UNIQUE INDEX payments_one_active ON payments USING btree (payable_id) WHERE is_active;

CREATE INDEX reconciliations_of_day ON reconciliations USING btree (day, requested_at);

CREATE INDEX reconciliations_to_run ON reconciliations USING btree (requested_at) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));

CREATE INDEX refunds_due ON refunds USING btree (next_query_at) WHERE (next_query_at IS NOT NULL);

CREATE INDEX refunds_ended ON refunds USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX refunds_longest_pending ON refunds USING btree (refund_id) WHERE (next_query_at IS NOT NULL);

CREATE INDEX refunds_of_payment ON refunds USING btree (payment_id, refund_id);

CREATE INDEX refunds_returned_in ON refunds USING btree (returned_at) WHERE (returned_at IS NOT NULL);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE INDEX reversals_confirmed ON reversals USING btree (confirmed_at) WHERE found_charge;

CREATE INDEX reversals_due ON reversals USING btree (next_request_at) WHERE (next_request_at IS NOT NULL);

CREATE INDEX reversals_requested ON reversals USING btree (requested_at);

CREATE INDEX settlement_lines_by_time ON settlement_lines USING brin (stored_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX settlement_lines_of_movement ON settlement_lines USING btree (movement_id, kind) WHERE (movement_id IS NOT NULL);

CREATE INDEX settlement_lines_unmatched ON settlement_lines USING btree (report_id) WHERE (NOT is_matched);

CREATE INDEX statement_lines_of_run ON statement_lines USING btree (run_id, at);

CREATE INDEX transfers_by_time ON transfers USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX transfers_of_merchant ON transfers USING btree (merchant_id, mode, created_at, "position");

CREATE UNIQUE INDEX transfers_once ON transfers USING btree (payment_id, kind) WHERE (kind = ANY (ARRAY['capture'::text, 'fee'::text]));

CREATE UNIQUE INDEX transfers_once_for_attempt ON transfers USING btree (attempt_id, kind) WHERE (attempt_id IS NOT NULL);

CREATE UNIQUE INDEX transfers_once_for_refund ON transfers USING btree (refund_id, kind) WHERE (refund_id IS NOT NULL);

CREATE UNIQUE INDEX transfers_once_for_settlement_line ON transfers USING btree (settlement_line_id) WHERE (settlement_line_id IS NOT NULL);

CREATE UNIQUE INDEX transfers_one_dispute_report ON transfers USING btree (dispute_report_id) WHERE (dispute_report_id IS NOT NULL);

CREATE UNIQUE INDEX transfers_order ON transfers USING btree (txid, "position");

CREATE INDEX verifications_by_card ON verifications USING btree (card_token) WHERE (card_token IS NOT NULL);

CREATE INDEX verifications_due ON verifications USING btree (expires_at) WHERE open;

CREATE INDEX verifications_waiting ON verifications USING btree (acquirer, next_query_at NULLS FIRST) WHERE open;

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

CREATE TRIGGER attempts_transition BEFORE UPDATE OF state ON attempts FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION refuse_attempt_transition();

CREATE TRIGGER captures_transition BEFORE UPDATE OF state ON captures FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION refuse_capture_transition();

CREATE TRIGGER ledger_closings_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER ledger_seals_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER payments_transition BEFORE UPDATE OF state ON payments FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION refuse_payment_transition();

CREATE TRIGGER refunds_transition BEFORE UPDATE ON refunds FOR EACH ROW WHEN ((((old.state <> 'pending'::text) AND (NOT ((old.state = 'succeeded'::text) AND (new.returned_at IS NOT NULL)))) OR (((old.payment_id IS DISTINCT FROM new.payment_id) OR (old.attempt_id IS DISTINCT FROM new.attempt_id)) OR (old.amount IS DISTINCT FROM new.amount)))) EXECUTE FUNCTION refuse_refund_change();

CREATE TRIGGER transfers_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE TRIGGER transfers_txid BEFORE INSERT ON transfers FOR EACH ROW WHEN ((new.txid <> pg_current_xact_id())) EXECUTE FUNCTION refuse_foreign_transaction();

ALTER TABLE ONLY attempts
    ADD CONSTRAINT attempts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY captures
    ADD CONSTRAINT captures_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY captures
    ADD CONSTRAINT captures_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY dispute_changes
    ADD CONSTRAINT dispute_changes_dispute_id_fkey FOREIGN KEY (dispute_id) REFERENCES disputes(dispute_id);

ALTER TABLE ONLY dispute_reports
    ADD CONSTRAINT dispute_reports_dispute_id_fkey FOREIGN KEY (dispute_id) REFERENCES disputes(dispute_id);

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY disputes
    ADD CONSTRAINT disputes_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY incidents
    ADD CONSTRAINT incidents_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY partner_references
    ADD CONSTRAINT partner_references_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY payments
    ADD CONSTRAINT payments_payable_id_fkey FOREIGN KEY (payable_id) REFERENCES payables(payable_id);

ALTER TABLE ONLY refund_idempotency_keys
    ADD CONSTRAINT refund_idempotency_keys_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES refunds(refund_id);

ALTER TABLE ONLY refund_incidents
    ADD CONSTRAINT refund_incidents_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES refunds(refund_id);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY refunds
    ADD CONSTRAINT refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY reversals
    ADD CONSTRAINT reversals_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY settlement_batches
    ADD CONSTRAINT settlement_batches_report FOREIGN KEY (report_id) REFERENCES acquirer_reports(report_id);

ALTER TABLE ONLY settlement_lines
    ADD CONSTRAINT settlement_lines_batch_report FOREIGN KEY (report_id, acquirer, mode, account, batch) REFERENCES settlement_batches(report_id, acquirer, mode, account, batch);

ALTER TABLE ONLY settlement_lines
    ADD CONSTRAINT settlement_lines_payment FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY statement_lines
    ADD CONSTRAINT statement_lines_run FOREIGN KEY (run_id) REFERENCES reconciliations(run_id) ON DELETE CASCADE;

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_attempt_id FOREIGN KEY (attempt_id) REFERENCES attempts(attempt_id);

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_dispute_report_id FOREIGN KEY (dispute_report_id) REFERENCES dispute_reports(report_id);

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_refund_id FOREIGN KEY (refund_id) REFERENCES refunds(refund_id);

ALTER TABLE ONLY transfers
    ADD CONSTRAINT transfers_settlement_line_id FOREIGN KEY (settlement_line_id) REFERENCES settlement_lines(line_id);

ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_card_token_fkey FOREIGN KEY (card_token) REFERENCES cards(token);

ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(payment_id);

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE acquirer_reports TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE attacked_sites TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE attempts TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE captures TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE card_keys TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE cards TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dispute_changes TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dispute_incidents TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dispute_reports TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE disputes TO svc_payment_processor;

GRANT USAGE ON SEQUENCE event_log_position TO svc_payment_processor;

GRANT SELECT,INSERT ON TABLE event_log TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE incidents TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_api_keys TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_customers TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_merchants TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_partner_keys TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_sites TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_token_keys TO svc_payment_processor;

GRANT SELECT,INSERT ON TABLE ledger_closings TO svc_payment_processor;

GRANT SELECT,INSERT ON TABLE ledger_seals TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE merchant_accounts TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE merchant_balances TO svc_payment_processor;

GRANT SELECT ON TABLE migrations TO svc_payment_processor;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE partner_references TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payables TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE payments TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reconciliations TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE refund_idempotency_keys TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE refund_incidents TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE refunds TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reversals TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE settlement_batches TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE settlement_lines TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE statement_lines TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_payment_processor;

GRANT SELECT,INSERT ON TABLE transfers TO svc_payment_processor;

GRANT USAGE ON SEQUENCE transfers_position_seq TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE velocity_counters TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE velocity_policies TO svc_payment_processor;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verifications TO svc_payment_processor;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_payment_processor_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_payment_processor;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_payment_processor_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_payment_processor;
