import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes record_notifications look up rows by an index. The previous version of the function used EXISTS. PostgreSQL
 * planned each EXISTS as a scan of all notifications, because PostgreSQL expects 100 rows from the jsonb argument. A
 * lateral subquery with LIMIT 1 is always an index look-up.
 */
export class RecordByLookUps1763500000509 implements MigrationInterface {
  readonly name = 'RecordByLookUps1763500000509';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Only the look-ups of the function change.
      CREATE OR REPLACE FUNCTION record_notifications(given jsonb, now timestamptz, lease uuid, lease_end timestamptz) RETURNS SETOF uuid
      LANGUAGE plpgsql AS $$
      BEGIN
        -- Wait for the locks first. Each later statement has a new snapshot, so it sees the rows that the previous
        -- holder of the locks committed.
        PERFORM lock_sessions(ARRAY(SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid) WHERE g.session_id IS NOT NULL));

        -- A recipient gets one notification for the payment and one for each refund. A repeated event inserts no
        -- second one.
        RETURN QUERY WITH recorded AS (
          INSERT INTO notifications (id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status,
                                     api_version, url, endpoint, fields, traceparent, state, next_attempt_at, created_at, lease_id, leased_until)
          SELECT j.id, j.webhook_id, coalesce(j.recipient, 'session'), coalesce(j.type, 'payment'), j.merchant_id, j.site_id, j.mode, j.session_id,
                 j.payment_reference, j.payment_status, j.api_version, j.url, j.endpoint,
                 j.fields, j.traceparent, CASE WHEN j.late THEN 'superseded' ELSE 'pending' END,
                 CASE WHEN j.late THEN NULL WHEN j.leased THEN lease_end ELSE now END, now,
                 CASE WHEN j.leased THEN lease END, CASE WHEN j.leased THEN lease_end END
            FROM (SELECT g.*, paid.found IS NOT NULL AS late,
                         g.has_place AND paid.found IS NULL AND sending.found IS NULL AND open.found IS NULL AS leased
                    FROM jsonb_to_recordset(given) AS g(
                           id uuid, webhook_id uuid, recipient text, type text, merchant_id bigint, site_id bigint, mode text, session_id uuid,
                           payment_reference text, payment_status text, api_version text, url text, endpoint text, fields jsonb,
                           traceparent text, has_place boolean)
                    LEFT JOIN LATERAL (SELECT true AS found FROM notifications n
                                        WHERE n.session_id = g.session_id AND n.payment_status = 'Success' AND g.payment_status = 'Failed'
                                        LIMIT 1) AS paid ON true
                    LEFT JOIN LATERAL (SELECT true AS found FROM notifications n
                                        WHERE n.session_id = g.session_id AND n.payment_status = 'Failed' AND n.leased_until > now
                                          AND g.payment_status <> 'Failed'
                                        LIMIT 1) AS sending ON true
                    LEFT JOIN LATERAL (SELECT true AS found FROM circuits c
                                        WHERE c.merchant_id = g.merchant_id AND c.endpoint = g.endpoint AND c.open_until IS NOT NULL
                                        LIMIT 1) AS open ON true) AS j
           -- All transactions insert in the same order, so that two batches with the same notifications cannot deadlock.
           ORDER BY j.payment_reference, j.recipient, j.webhook_id
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
