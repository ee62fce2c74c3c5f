import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of circuit breakers. `record_notifications` leases no notification to an endpoint whose circuit is
 * not closed. It also ignores a notification whose id exists, because the id is now derived from the payment.
 */
export class Circuits1763500000504 implements MigrationInterface {
  readonly name = 'Circuits1763500000504';

  async up(db: QueryRunner): Promise<void> {
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
      COMMENT ON TABLE circuits IS
        'Circuit breakers of endpoints whose last attempts failed. A healthy endpoint has no row. See circuit.ts.';
      COMMENT ON COLUMN circuits.endpoint IS 'Host and port, as in notifications.endpoint.';
      COMMENT ON COLUMN circuits.failures IS 'Number of consecutive failures, counted by all processes together.';
      COMMENT ON COLUMN circuits.openings IS
        'How often the circuit has opened since the last response that was not a failure.';
      COMMENT ON COLUMN circuits.open_until IS 'Until this time nothing is sent. Then one probe is sent. During the probe, the end of its lease. NULL while the circuit is closed.';
      COMMENT ON COLUMN circuits.probe_lease_id IS 'Lease of the probe that is in flight.';

      ALTER TABLE notifications ADD COLUMN replayed_at timestamptz;
      COMMENT ON COLUMN notifications.replayed_at IS
        'When a replay last restarted the retry schedule. NULL if no replay did.';

      CREATE INDEX notifications_due_of_merchant ON notifications (merchant_id, endpoint, next_attempt_at) WHERE state = 'pending';
      DROP INDEX notifications_due;
      COMMENT ON COLUMN notifications.endpoint IS 'Host and port of the url. Concurrency limits and circuit breakers apply to a merchant and an endpoint.';

      -- Two changes of the function: it leases no notification to an endpoint whose circuit is open, and it also
      -- ignores a notification whose id exists, because the id is derived from the payment.
      CREATE OR REPLACE FUNCTION record_notifications(given jsonb, now timestamptz, lease uuid, lease_end timestamptz) RETURNS SETOF uuid
      LANGUAGE plpgsql AS $$
      BEGIN
        -- Wait for the lock first. Each later statement has a new snapshot, so it sees the rows that the previous holder
        -- of the lock committed.
        PERFORM pg_advisory_xact_lock(key)
           FROM (SELECT DISTINCT hashtextextended(session_id::text, 0) AS key
                   FROM jsonb_to_recordset(given) AS g(session_id uuid) ORDER BY key OFFSET 0) AS sorted;

        -- A repeated event inserts no second notification of a payment.
        RETURN QUERY WITH recorded AS (
          INSERT INTO notifications (id, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version,
                                     url, endpoint, fields, traceparent, state, next_attempt_at, created_at, lease_id, leased_until)
          SELECT j.id, j.merchant_id, j.site_id, j.mode, j.session_id, j.payment_reference, j.payment_status, j.api_version, j.url, j.endpoint,
                 j.fields, j.traceparent, CASE WHEN j.late THEN 'superseded' ELSE 'pending' END,
                 CASE WHEN j.late THEN NULL WHEN j.leased THEN lease_end ELSE now END, now,
                 CASE WHEN j.leased THEN lease END, CASE WHEN j.leased THEN lease_end END
            FROM (SELECT l.*, l.has_place AND NOT l.late AND (l.payment_status = 'Failed' OR NOT EXISTS (
                           SELECT 1 FROM notifications failed
                            WHERE failed.session_id = l.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > now))
                           AND NOT EXISTS (SELECT 1 FROM circuits open WHERE open.merchant_id = l.merchant_id
                                              AND open.endpoint = l.endpoint AND open.open_until IS NOT NULL) AS leased
                    FROM (SELECT g.*, g.payment_status = 'Failed' AND EXISTS (
                                   SELECT 1 FROM notifications paid
                                    WHERE paid.session_id = g.session_id AND paid.payment_status = 'Success') AS late
                            FROM jsonb_to_recordset(given) AS g(
                                   id uuid, merchant_id bigint, site_id bigint, mode text, session_id uuid, payment_reference text,
                                   payment_status text, api_version text, url text, endpoint text, fields jsonb, traceparent text,
                                   has_place boolean)) AS l) AS j
          ON CONFLICT DO NOTHING
          RETURNING notifications.id, lease_id)
        SELECT recorded.id FROM recorded WHERE lease_id IS NOT NULL;

        -- Keep the lease of a Failed notification: the process that is sending it finishes, and only then the Success
        -- notification is sent.
        UPDATE notifications SET state = 'superseded', next_attempt_at = NULL
         WHERE session_id IN (SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid, payment_status text)
                               WHERE g.payment_status = 'Success')
           AND payment_status = 'Failed' AND state IN ('pending', 'exhausted', 'gone');
      END $$;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
