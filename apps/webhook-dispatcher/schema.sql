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

CREATE FUNCTION keep_notified_since() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      BEGIN
        NEW.notified_since := OLD.notified_since;
        RETURN NEW;
      END $$;

CREATE FUNCTION lock_sessions(session_ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
      BEGIN
        -- The keys are sorted, so that two batches cannot deadlock. OFFSET 0 makes PostgreSQL sort the keys before it
        -- takes the locks.
        PERFORM pg_advisory_xact_lock(key)
           FROM (SELECT DISTINCT hashtextextended(session_id::text, 0) AS key FROM unnest(session_ids) AS session_id
                 ORDER BY key OFFSET 0) AS sorted;
      END $$;

CREATE FUNCTION record_notifications(given json, session_ids uuid[], paid_session_ids uuid[], now timestamp with time zone, permitted uuid[], lease uuid, lease_end timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE plpgsql
    AS $$
      BEGIN
        -- Wait for the locks first. Each later statement has a new snapshot, so it sees the rows that the previous holder
        -- of the locks committed.
        PERFORM lock_sessions(session_ids);

        -- A Failed whose session is paid is superseded. A recipient gets one notification for the payment, for each refund
        -- and for each change of a dispute: a repeated event inserts no second one. Each look-up is a lateral subquery with LIMIT 1, because
        -- PostgreSQL expects 100 rows from the argument, and would plan an EXISTS as a scan of all notifications.
        RETURN QUERY WITH recorded AS (
          INSERT INTO notifications (id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version, url, endpoint, fields, traceparent, created_at, state, next_attempt_at, lease_id, leased_until)
          SELECT id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version, url, endpoint, fields, traceparent, now, CASE WHEN is_paid THEN 'superseded' ELSE 'pending' END,
                 CASE WHEN NOT is_paid THEN now END,
                 CASE WHEN is_leased THEN lease END, CASE WHEN is_leased THEN lease_end END
            FROM (SELECT checked.*, id = ANY(permitted) AND NOT (is_paid OR is_failed_being_sent OR is_circuit_open) AS is_leased
                    FROM (SELECT new.*, success.found IS NOT NULL AS is_paid, failed.found IS NOT NULL AS is_failed_being_sent,
                                 circuit.found IS NOT NULL AS is_circuit_open
                            FROM json_populate_recordset(NULL::notifications, given) AS new
                            LEFT JOIN LATERAL (SELECT true AS found FROM notifications n
                                                WHERE n.session_id = new.session_id AND n.payment_status = 'Success'
                                                  AND new.payment_status = 'Failed' LIMIT 1) AS success ON true
                            LEFT JOIN LATERAL (SELECT true AS found FROM notifications n
                                                WHERE n.session_id = new.session_id AND n.payment_status = 'Failed' AND n.leased_until > now
                                                  AND new.payment_status = 'Success' LIMIT 1) AS failed ON true
                            LEFT JOIN LATERAL (SELECT true AS found FROM circuits c
                                                WHERE c.merchant_id = new.merchant_id AND c.endpoint = new.endpoint
                                                  AND c.open_until IS NOT NULL LIMIT 1) AS circuit ON true) AS checked) AS decided
           -- All transactions insert in the same order, so that two batches with the same notifications cannot deadlock.
           ORDER BY id
          ON CONFLICT DO NOTHING
          RETURNING notifications.id, lease_id)
        SELECT recorded.id FROM recorded WHERE lease_id IS NOT NULL;

        -- A Success supersedes each Failed of its session. The lease of such a Failed stays: the process that is sending it
        -- finishes, and only then the Success is sent.
        UPDATE notifications SET state = 'superseded', next_attempt_at = NULL
         WHERE session_id = ANY(paid_session_ids)
           AND payment_status = 'Failed' AND state IN ('pending', 'exhausted', 'gone');
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

CREATE TABLE circuits (
    merchant_id bigint NOT NULL,
    endpoint text NOT NULL,
    failures integer NOT NULL,
    openings integer NOT NULL,
    open_until timestamp with time zone,
    probe_lease_id uuid,
    CONSTRAINT circuits_endpoint_length CHECK (((length(endpoint) >= 1) AND (length(endpoint) <= 300))),
    CONSTRAINT circuits_failures CHECK ((failures >= 0)),
    CONSTRAINT circuits_opened CHECK (((openings > 0) = (open_until IS NOT NULL))),
    CONSTRAINT circuits_openings CHECK ((openings >= 0)),
    CONSTRAINT circuits_probe CHECK (((probe_lease_id IS NULL) OR (open_until IS NOT NULL)))
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

CREATE TABLE delivery_attempts (
    notification_id uuid NOT NULL,
    attempt_number integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    duration_ms integer NOT NULL,
    outcome text NOT NULL,
    status_code integer,
    error_class text,
    response text,
    hint text,
    CONSTRAINT delivery_attempts_duration CHECK ((duration_ms >= 0)),
    CONSTRAINT delivery_attempts_error_class CHECK ((length(error_class) <= 100)),
    CONSTRAINT delivery_attempts_explained CHECK (((outcome <> 'unanswered'::text) OR (error_class IS NOT NULL))),
    CONSTRAINT delivery_attempts_hint CHECK ((length(hint) <= 2100)),
    CONSTRAINT delivery_attempts_number CHECK ((attempt_number > 0)),
    CONSTRAINT delivery_attempts_outcome CHECK ((outcome = ANY (ARRAY['acknowledged'::text, 'refused'::text, 'unanswered'::text]))),
    CONSTRAINT delivery_attempts_response CHECK ((length(response) <= 2000)),
    CONSTRAINT delivery_attempts_status_code CHECK (((status_code >= 100) AND (status_code <= 999))),
    CONSTRAINT delivery_attempts_unanswered CHECK (((outcome = 'unanswered'::text) = (status_code IS NULL)))
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

CREATE TABLE notifications (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    recipient text NOT NULL,
    type text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint NOT NULL,
    mode text NOT NULL,
    session_id uuid,
    payment_reference text NOT NULL,
    payment_status text NOT NULL,
    api_version text,
    url text NOT NULL,
    endpoint text NOT NULL,
    fields json NOT NULL,
    traceparent text,
    created_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    attempt_count integer DEFAULT 0 NOT NULL,
    schedule_position integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    delivered_at timestamp with time zone,
    lease_id uuid,
    leased_until timestamp with time zone,
    unsigned_since timestamp with time zone,
    missing_keys text[],
    replayed_at timestamp with time zone,
    replayed_by uuid,
    CONSTRAINT notifications_api_version CHECK ((api_version = ANY (ARRAY['v3'::text, 'v3.1'::text]))),
    CONSTRAINT notifications_attempt_count CHECK ((attempt_count >= 0)),
    CONSTRAINT notifications_delivered_at CHECK (((state <> 'delivered'::text) OR (delivered_at IS NOT NULL))),
    CONSTRAINT notifications_due_while_pending CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT notifications_endpoint_length CHECK (((length(endpoint) >= 1) AND (length(endpoint) <= 300))),
    CONSTRAINT notifications_lease CHECK (((lease_id IS NULL) = (leased_until IS NULL))),
    CONSTRAINT notifications_missing_keys CHECK ((((unsigned_since IS NULL) = (missing_keys IS NULL)) AND (missing_keys <@ '{api-key,webhook-secret}'::text[]) AND (missing_keys <> '{}'::text[]))),
    CONSTRAINT notifications_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT notifications_payment_reference_length CHECK ((length(payment_reference) = 18)),
    CONSTRAINT notifications_payment_status CHECK ((payment_status = ANY (ARRAY['Success'::text, 'Failed'::text]))),
    CONSTRAINT notifications_recipient CHECK (
CASE recipient
    WHEN 'session'::text THEN ((type = 'payment'::text) AND (session_id IS NOT NULL) AND (api_version IS NOT NULL))
    WHEN 'site'::text THEN ((type = ANY (ARRAY['payment'::text, 'refund'::text, 'dispute'::text])) AND (session_id IS NULL) AND (api_version IS NULL))
    ELSE false
END),
    CONSTRAINT notifications_schedule_position CHECK (((schedule_position >= 0) AND (schedule_position <= 12))),
    CONSTRAINT notifications_state CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'superseded'::text, 'exhausted'::text, 'gone'::text]))),
    CONSTRAINT notifications_superseded_failed CHECK (((state <> 'superseded'::text) OR (payment_status = 'Failed'::text))),
    CONSTRAINT notifications_traceparent CHECK ((length(traceparent) <= 100)),
    CONSTRAINT notifications_url_length CHECK ((length(url) <= 2048))
)
WITH (fillfactor='55');

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

CREATE TABLE sealing_keys (
    kid uuid NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE signing_secrets (
    secret_id text NOT NULL,
    purpose text NOT NULL,
    mode text NOT NULL,
    merchant_id bigint NOT NULL,
    site_id bigint,
    sealed text NOT NULL,
    is_primary boolean NOT NULL,
    revoked boolean NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT signing_secrets_id_length CHECK (((length(secret_id) >= 1) AND (length(secret_id) <= 100))),
    CONSTRAINT signing_secrets_mode CHECK ((mode = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT signing_secrets_purpose CHECK ((purpose = ANY (ARRAY['api-key'::text, 'webhook-secret'::text]))),
    CONSTRAINT signing_secrets_sealed_length CHECK ((length(sealed) <= 4096)),
    CONSTRAINT signing_secrets_webhook_site CHECK (((purpose = 'api-key'::text) OR (site_id IS NOT NULL)))
);

CREATE TABLE sites (
    site_id bigint NOT NULL,
    merchant_id bigint NOT NULL,
    webhook_url text,
    webhook_enabled boolean NOT NULL,
    notified_since timestamp with time zone,
    version bigint NOT NULL,
    CONSTRAINT sites_notified_since CHECK ((webhook_enabled = (notified_since IS NOT NULL))),
    CONSTRAINT sites_webhook CHECK (((NOT webhook_enabled) OR (webhook_url IS NOT NULL))),
    CONSTRAINT sites_webhook_url_length CHECK (((length(webhook_url) >= 1) AND (length(webhook_url) <= 2048)))
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

ALTER TABLE ONLY circuits
    ADD CONSTRAINT circuits_pkey PRIMARY KEY (merchant_id, endpoint);

ALTER TABLE ONLY dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY deferred_events
    ADD CONSTRAINT deferred_events_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY delivery_attempts
    ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (notification_id, attempt_number);

ALTER TABLE ONLY heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (publisher);

ALTER TABLE ONLY inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY inbox_default
    ADD CONSTRAINT inbox_default_pkey PRIMARY KEY (message_id, occurred_at);

ALTER TABLE ONLY known_operator_keys
    ADD CONSTRAINT known_operator_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY relay_cursors
    ADD CONSTRAINT relay_cursors_pkey PRIMARY KEY (target);

ALTER TABLE ONLY relay_lease
    ADD CONSTRAINT relay_lease_pkey PRIMARY KEY (name);

ALTER TABLE ONLY replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sealing_keys
    ADD CONSTRAINT sealing_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY signing_secrets
    ADD CONSTRAINT signing_secrets_pkey PRIMARY KEY (secret_id);

ALTER TABLE ONLY sites
    ADD CONSTRAINT sites_pkey PRIMARY KEY (site_id);

ALTER TABLE ONLY subscribed_types
    ADD CONSTRAINT subscribed_types_pkey PRIMARY KEY (type);

CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, message_id);

CREATE INDEX deferred_events_due ON deferred_events USING btree (type, next_attempt_at);

CREATE INDEX event_log_order ON ONLY event_log USING btree (txid, "position");

CREATE INDEX event_log_default_txid_position_idx ON event_log_default USING btree (txid, "position");

CREATE INDEX known_operator_keys_changing ON known_operator_keys USING btree (role) WHERE (role = 'operator'::text);

CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys USING btree (hash);

CREATE INDEX notifications_due_of_merchant ON notifications USING btree (merchant_id, endpoint, next_attempt_at) WHERE (state = 'pending'::text);

CREATE INDEX notifications_of_merchant_by_id ON notifications USING btree (merchant_id, id, created_at, state) WHERE (state <> 'pending'::text);

CREATE INDEX notifications_of_session ON notifications USING btree (session_id);

CREATE INDEX notifications_of_site ON notifications USING btree (merchant_id, site_id, mode, id) WHERE (state <> 'pending'::text);

CREATE INDEX notifications_pending ON notifications USING btree (id, merchant_id) WHERE (state = 'pending'::text);

CREATE INDEX notifications_pending_of_site ON notifications USING btree (merchant_id, site_id, mode, id) WHERE (state = 'pending'::text);

CREATE INDEX notifications_undelivered ON notifications USING btree (state, id, merchant_id) WHERE (state = ANY (ARRAY['superseded'::text, 'exhausted'::text, 'gone'::text]));

CREATE INDEX notifications_undelivered_of_site ON notifications USING btree (merchant_id, site_id, mode, state, id) WHERE (state = ANY (ARRAY['superseded'::text, 'exhausted'::text, 'gone'::text]));

CREATE INDEX notifications_unsigned ON notifications USING btree (id, merchant_id, state) WHERE (unsigned_since IS NOT NULL);

CREATE INDEX replays_open ON replays USING btree (requested_at, id) WHERE (served_at IS NULL);

CREATE INDEX signing_secrets_usable ON signing_secrets USING btree (merchant_id, mode) WHERE (NOT revoked);

ALTER INDEX event_log_order ATTACH PARTITION event_log_default_txid_position_idx;

ALTER INDEX inbox_pkey ATTACH PARTITION inbox_default_pkey;

CREATE TRIGGER sites_notified_since BEFORE UPDATE ON sites FOR EACH ROW WHEN ((old.webhook_enabled AND new.webhook_enabled)) EXECUTE FUNCTION keep_notified_since();

ALTER TABLE ONLY delivery_attempts
    ADD CONSTRAINT delivery_attempts_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id);

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE circuits TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE dead_letters TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deferred_events TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE delivery_attempts TO svc_webhook_dispatcher;

GRANT USAGE ON SEQUENCE event_log_position TO svc_webhook_dispatcher;

GRANT SELECT,INSERT ON TABLE event_log TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE heartbeats TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE inbox TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE known_operator_keys TO svc_webhook_dispatcher;

GRANT SELECT ON TABLE migrations TO svc_webhook_dispatcher;

GRANT USAGE ON SEQUENCE migrations_id_seq TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE notifications TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_cursors TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE relay_lease TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE replays TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sealing_keys TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE signing_secrets TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sites TO svc_webhook_dispatcher;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE subscribed_types TO svc_webhook_dispatcher;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_webhook_dispatcher_owner IN SCHEMA public GRANT USAGE ON SEQUENCES  TO svc_webhook_dispatcher;

ALTER DEFAULT PRIVILEGES FOR ROLE svc_webhook_dispatcher_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO svc_webhook_dispatcher;
