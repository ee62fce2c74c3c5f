import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the function that inserts notifications. The notification of a failed payment is superseded if its session is
 * paid, before (`late`) or after its insertion. `has_place`: the worker has a slot for the notification. `leased`: the
 * notification is inserted under the lease of the worker.
 */
export class RecordNotifications1763500000503 implements MigrationInterface {
  readonly name = 'RecordNotifications1763500000503';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION record_notifications(given jsonb, now timestamptz, lease uuid, lease_end timestamptz) RETURNS SETOF uuid
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
                            WHERE failed.session_id = l.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > now)) AS leased
                    FROM (SELECT g.*, g.payment_status = 'Failed' AND EXISTS (
                                   SELECT 1 FROM notifications paid
                                    WHERE paid.session_id = g.session_id AND paid.payment_status = 'Success') AS late
                            FROM jsonb_to_recordset(given) AS g(
                                   id uuid, merchant_id bigint, site_id bigint, mode text, session_id uuid, payment_reference text,
                                   payment_status text, api_version text, url text, endpoint text, fields jsonb, traceparent text,
                                   has_place boolean)) AS l) AS j
          ON CONFLICT (payment_reference) DO NOTHING
          RETURNING notifications.id, lease_id)
        SELECT recorded.id FROM recorded WHERE lease_id IS NOT NULL;

        -- Keep the lease of a Failed notification: the process that is sending it finishes, and only then the Success
        -- notification is sent.
        UPDATE notifications SET state = 'superseded', next_attempt_at = NULL
         WHERE session_id IN (SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid, payment_status text)
                               WHERE g.payment_status = 'Success')
           AND payment_status = 'Failed' AND state IN ('pending', 'exhausted', 'gone');
      END $$;
      COMMENT ON FUNCTION record_notifications IS 'Inserts notifications in one round trip, see record-notifications.ts. If the worker has a slot for a notification and no rule prevents it, the notification is inserted with the lease of the worker. The function returns the ids of the leased notifications.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
