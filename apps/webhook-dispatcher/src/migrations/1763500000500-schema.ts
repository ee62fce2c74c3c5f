import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Notifications, which are messages to merchants about their payments, with all attempts to deliver them; the circuits
 * of failing endpoints; the secrets that sign notifications; and the webhooks of sites.
 */
export class Schema1763500000500 implements MigrationInterface {
  readonly name = 'Schema1763500000500';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE sealing_keys (
        kid                uuid        PRIMARY KEY,
        public_jwk         jsonb       NOT NULL,
        sealed_private_key text        NOT NULL,
        created_at         timestamptz NOT NULL
      );
      COMMENT ON TABLE sealing_keys IS 'Key pairs that encrypt signing secrets. The private key is encrypted with a key from the environment.';

      CREATE TABLE signing_secrets (
        secret_id   text    PRIMARY KEY CONSTRAINT signing_secrets_id_length CHECK (length(secret_id) BETWEEN 1 AND 100),
        purpose     text    NOT NULL CONSTRAINT signing_secrets_purpose CHECK (purpose IN ('api-key', 'webhook-secret')),
        mode        text    NOT NULL CONSTRAINT signing_secrets_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint  NOT NULL,
        site_id     bigint,
        sealed      text    NOT NULL CONSTRAINT signing_secrets_sealed_length CHECK (length(sealed) <= 4096),
        is_primary  boolean NOT NULL,
        revoked     boolean NOT NULL,
        version     bigint  NOT NULL,
        CONSTRAINT signing_secrets_webhook_site CHECK (purpose = 'api-key' OR site_id IS NOT NULL)
      );
      CREATE INDEX signing_secrets_usable ON signing_secrets (merchant_id, mode) WHERE NOT revoked;
      COMMENT ON TABLE signing_secrets IS 'Read model of the secrets that identity published. They are decrypted only in memory.';
      COMMENT ON COLUMN signing_secrets.site_id IS 'NULL for an API key of a merchant. This key signs v3 for all sites of the merchant.';
      COMMENT ON COLUMN signing_secrets.sealed IS 'Compact JWE, encrypted with a public key of sealing_keys.';
    `);

    await db.query(`
      CREATE TABLE sites (
        site_id         bigint  PRIMARY KEY,
        merchant_id     bigint  NOT NULL,
        webhook_url     text    CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048),
        webhook_enabled boolean NOT NULL,
        notified_since  timestamptz,
        version         bigint  NOT NULL,
        CONSTRAINT sites_webhook CHECK (NOT webhook_enabled OR webhook_url IS NOT NULL),
        CONSTRAINT sites_notified_since CHECK (webhook_enabled = (notified_since IS NOT NULL))
      );
      COMMENT ON TABLE sites IS 'Read model of the webhooks of sites that identity published.';
      COMMENT ON COLUMN sites.notified_since IS 'When the webhook was last enabled. NULL while it is disabled. Reconciliation expects a notification for every later payment.';

      CREATE FUNCTION keep_notified_since() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.notified_since := OLD.notified_since;
        RETURN NEW;
      END $$;
      COMMENT ON FUNCTION keep_notified_since IS 'Keeps notified_since if the webhook is enabled before and after an update of the site.';
      CREATE TRIGGER sites_notified_since BEFORE UPDATE ON sites
        FOR EACH ROW WHEN (OLD.webhook_enabled AND NEW.webhook_enabled) EXECUTE FUNCTION keep_notified_since();
    `);

    await db.query(`
      -- The fill factor leaves room on each page for one new version of each row. The version of a lease is written without
      -- index entries (HOT), because a lease changes no indexed column. The WAL of the version that records a result
      -- contains only the columns from state on instead of the whole row.
      CREATE TABLE notifications (
        id                uuid        PRIMARY KEY,
        webhook_id        uuid        NOT NULL,
        recipient         text        NOT NULL,
        type              text        NOT NULL,
        merchant_id       bigint      NOT NULL,
        site_id           bigint      NOT NULL,
        mode              text        NOT NULL CONSTRAINT notifications_mode CHECK (mode IN ('test', 'live')),
        session_id        uuid,
        payment_reference text        NOT NULL CONSTRAINT notifications_payment_reference_length CHECK (length(payment_reference) = 18),
        payment_status    text        NOT NULL CONSTRAINT notifications_payment_status CHECK (payment_status IN ('Success', 'Failed')),
        api_version       text        CONSTRAINT notifications_api_version CHECK (api_version IN ('v3', 'v3.1')),
        url               text        NOT NULL CONSTRAINT notifications_url_length CHECK (length(url) <= 2048),
        endpoint          text        NOT NULL CONSTRAINT notifications_endpoint_length CHECK (length(endpoint) BETWEEN 1 AND 300),
        fields            json        NOT NULL,
        traceparent       text        CONSTRAINT notifications_traceparent CHECK (length(traceparent) <= 100),
        created_at        timestamptz NOT NULL,

        state             text        NOT NULL
          CONSTRAINT notifications_state CHECK (state IN ('pending', 'delivered', 'superseded', 'exhausted', 'gone')),
        attempt_count     int         NOT NULL DEFAULT 0 CONSTRAINT notifications_attempt_count CHECK (attempt_count >= 0),
        schedule_position int         NOT NULL DEFAULT 0
          CONSTRAINT notifications_schedule_position CHECK (schedule_position BETWEEN 0 AND 12),
        next_attempt_at   timestamptz,
        delivered_at      timestamptz,

        lease_id          uuid,
        leased_until      timestamptz,

        unsigned_since    timestamptz,
        missing_keys      text[],

        replayed_at       timestamptz,
        replayed_by       uuid,

        CONSTRAINT notifications_recipient CHECK (
          CASE recipient
            WHEN 'session' THEN type = 'payment' AND session_id IS NOT NULL AND api_version IS NOT NULL
            WHEN 'site' THEN type IN ('payment', 'refund', 'dispute') AND session_id IS NULL AND api_version IS NULL
            ELSE false
          END),
        CONSTRAINT notifications_due_while_pending CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
        CONSTRAINT notifications_delivered_at CHECK (state <> 'delivered' OR delivered_at IS NOT NULL),
        CONSTRAINT notifications_superseded_failed CHECK (state <> 'superseded' OR payment_status = 'Failed'),
        CONSTRAINT notifications_lease CHECK ((lease_id IS NULL) = (leased_until IS NULL)),
        CONSTRAINT notifications_missing_keys CHECK (
          (unsigned_since IS NULL) = (missing_keys IS NULL) AND missing_keys <@ '{api-key,webhook-secret}' AND missing_keys <> '{}')
      ) WITH (fillfactor = 55);
      COMMENT ON TABLE notifications IS 'Notifications to merchants, with the state of the delivery: one for each final payment of a hosted session, and one for each final payment, each refund and each change of a dispute of a site whose webhook is enabled.';
      COMMENT ON COLUMN notifications.webhook_id IS 'The webhook-id header, which is the same in every attempt. Both recipients of one payment get the same header.';
      COMMENT ON COLUMN notifications.recipient IS 'session: the notificationUrl of a session (E2). site: the webhook of a site (M6).';
      COMMENT ON COLUMN notifications.session_id IS 'NULL for a site, because notifications of a site are never superseded.';
      COMMENT ON COLUMN notifications.payment_status IS 'Also in fields. It is a column because superseding and leasing filter by it.';
      COMMENT ON COLUMN notifications.endpoint IS 'Host and port of the url. Concurrency limits and circuit breakers apply to a merchant and an endpoint.';
      COMMENT ON COLUMN notifications.fields IS 'Body of the request. The body for a session is stored without its signature. Its type is json, which keeps the order of the members. Amounts are in cents.';
      COMMENT ON COLUMN notifications.traceparent IS 'Trace of the payment. Each delivery attempt belongs to this trace.';
      COMMENT ON COLUMN notifications.attempt_count IS 'Number of all attempts, which is also the number of the last attempt.';
      COMMENT ON COLUMN notifications.schedule_position IS 'Number of attempts since the retry schedule started. A replay restarts the schedule.';
      COMMENT ON COLUMN notifications.next_attempt_at IS 'When the next attempt is due. A lease does not change it, because it is indexed.';
      COMMENT ON COLUMN notifications.leased_until IS 'End of the lease. Until then only the worker with lease_id may send the notification.';
      COMMENT ON COLUMN notifications.unsigned_since IS 'Time of the first failure to sign. NULL after an attempt that was signed.';
      COMMENT ON COLUMN notifications.missing_keys IS 'Kinds of keys that were missing or could not be decrypted at the last failure to sign.';
      COMMENT ON COLUMN notifications.replayed_at IS 'When a replay last restarted the retry schedule. NULL if no replay did.';
      COMMENT ON COLUMN notifications.replayed_by IS 'id of the request of a merchant that last made the notification due again';

      CREATE INDEX notifications_of_session ON notifications (session_id);
      CREATE INDEX notifications_due_of_merchant ON notifications (merchant_id, endpoint, next_attempt_at) WHERE state = 'pending';

      -- No index guards that a recipient gets one notification of each payment and refund: id is derived from them.

      -- The lists of administrators scan these indexes in the order of id. Because of the columns after id, a scan can skip
      -- an entry of another time, state or merchant without reading its row. Skipping a million entries takes about 50 ms.
      CREATE INDEX notifications_of_merchant_by_id ON notifications (merchant_id, id, created_at, state) WHERE state <> 'pending';
      CREATE INDEX notifications_pending ON notifications (id, merchant_id) WHERE state = 'pending';
      CREATE INDEX notifications_undelivered ON notifications (state, id, merchant_id) WHERE state IN ('superseded', 'exhausted', 'gone');
      CREATE INDEX notifications_unsigned ON notifications (id, merchant_id, state) WHERE unsigned_since IS NOT NULL;

      -- For a list of all states, selectInAnyState merges an index of pending notifications and an index of all others.
      -- With these indexes, a page of a merchant's list reads only rows of one site and mode.
      CREATE INDEX notifications_of_site ON notifications (merchant_id, site_id, mode, id) WHERE state <> 'pending';
      CREATE INDEX notifications_pending_of_site ON notifications (merchant_id, site_id, mode, id) WHERE state = 'pending';
      CREATE INDEX notifications_undelivered_of_site ON notifications (merchant_id, site_id, mode, state, id)
        WHERE state IN ('superseded', 'exhausted', 'gone');
    `);

    await db.query(`
      CREATE TABLE delivery_attempts (
        notification_id uuid        NOT NULL REFERENCES notifications (id),
        attempt_number  int         NOT NULL CONSTRAINT delivery_attempts_number CHECK (attempt_number > 0),
        started_at      timestamptz NOT NULL,
        duration_ms     int         NOT NULL CONSTRAINT delivery_attempts_duration CHECK (duration_ms >= 0),
        outcome         text        NOT NULL
          CONSTRAINT delivery_attempts_outcome CHECK (outcome IN ('acknowledged', 'refused', 'unanswered')),
        status_code     int         CONSTRAINT delivery_attempts_status_code CHECK (status_code BETWEEN 100 AND 999),
        error_class     text        CONSTRAINT delivery_attempts_error_class CHECK (length(error_class) <= 100),
        response        text        CONSTRAINT delivery_attempts_response CHECK (length(response) <= 2000),
        hint            text        CONSTRAINT delivery_attempts_hint CHECK (length(hint) <= 2100),
        PRIMARY KEY (notification_id, attempt_number),
        CONSTRAINT delivery_attempts_unanswered CHECK ((outcome = 'unanswered') = (status_code IS NULL)),
        CONSTRAINT delivery_attempts_explained CHECK (outcome <> 'unanswered' OR error_class IS NOT NULL)
      );
      COMMENT ON TABLE delivery_attempts IS 'Append-only log of all delivery attempts and the responses of the endpoints.';
      COMMENT ON COLUMN delivery_attempts.outcome IS 'acknowledged: 2xx. refused: another status. unanswered: no status, and error_class has the reason.';
      COMMENT ON COLUMN delivery_attempts.hint IS 'Advice for the developer of the endpoint: it responded with an HTML page or a redirect.';
      COMMENT ON COLUMN delivery_attempts.response IS 'First characters of the response, for support. Other merchants must never see it.';
    `);

    await db.query(`
      CREATE TABLE circuits (
        merchant_id    bigint NOT NULL,
        endpoint       text   NOT NULL CONSTRAINT circuits_endpoint_length CHECK (length(endpoint) BETWEEN 1 AND 300),
        failures       int    NOT NULL CONSTRAINT circuits_failures CHECK (failures >= 0),
        openings       int    NOT NULL CONSTRAINT circuits_openings CHECK (openings >= 0),
        open_until     timestamptz,
        probe_lease_id uuid,
        PRIMARY KEY (merchant_id, endpoint),
        CONSTRAINT circuits_opened CHECK ((openings > 0) = (open_until IS NOT NULL)),
        CONSTRAINT circuits_probe CHECK (probe_lease_id IS NULL OR open_until IS NOT NULL)
      );
      COMMENT ON TABLE circuits IS 'Circuit breakers of endpoints whose last attempts failed. A healthy endpoint has no row. See circuit.ts.';
      COMMENT ON COLUMN circuits.endpoint IS 'Host and port, as in notifications.endpoint.';
      COMMENT ON COLUMN circuits.failures IS 'Number of consecutive failures, counted by all processes together.';
      COMMENT ON COLUMN circuits.openings IS 'How often the circuit has opened since the last response that was not a failure.';
      COMMENT ON COLUMN circuits.open_until IS 'Until this time nothing is sent. Then one probe is sent. During the probe, the end of its lease. NULL while the circuit is closed.';
      COMMENT ON COLUMN circuits.probe_lease_id IS 'Lease of the probe that is in flight.';
    `);

    const columns =
      'id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version, url, endpoint, fields, traceparent';
    await db.query(`
      CREATE FUNCTION lock_sessions(session_ids uuid[]) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        -- The keys are sorted, so that two batches cannot deadlock. OFFSET 0 makes PostgreSQL sort the keys before it
        -- takes the locks.
        PERFORM pg_advisory_xact_lock(key)
           FROM (SELECT DISTINCT hashtextextended(session_id::text, 0) AS key FROM unnest(session_ids) AS session_id
                 ORDER BY key OFFSET 0) AS sorted;
      END $$;
      COMMENT ON FUNCTION lock_sessions IS 'Locks these sessions until the transaction ends. Until then no other transaction inserts or replays a notification of these sessions. See replay.repository.ts.';

      CREATE FUNCTION record_notifications(given json, session_ids uuid[], paid_session_ids uuid[], now timestamptz, permitted uuid[], lease uuid, lease_end timestamptz)
        RETURNS SETOF uuid LANGUAGE plpgsql AS $$
      BEGIN
        -- Wait for the locks first. Each later statement has a new snapshot, so it sees the rows that the previous holder
        -- of the locks committed.
        PERFORM lock_sessions(session_ids);

        -- A Failed whose session is paid is superseded. A recipient gets one notification for the payment, for each refund
        -- and for each change of a dispute: a repeated event inserts no second one. Each look-up is a lateral subquery with LIMIT 1, because
        -- PostgreSQL expects 100 rows from the argument, and would plan an EXISTS as a scan of all notifications.
        RETURN QUERY WITH recorded AS (
          INSERT INTO notifications (${columns}, created_at, state, next_attempt_at, lease_id, leased_until)
          SELECT ${columns}, now, CASE WHEN is_paid THEN 'superseded' ELSE 'pending' END,
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
      COMMENT ON FUNCTION record_notifications IS 'Inserts notifications in one round trip, see record-notifications.ts. A notification for which the worker has a permit is inserted with the lease of the worker, if no rule prevents it. The function returns the ids of the leased notifications. The sessions are parameters, because reading them from the notifications takes longer.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
