import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Moves the lock on sessions from `record_notifications` to the function `lock_sessions`, because replays need the same
 * lock.
 */
export class LockSessions1763500000506 implements MigrationInterface {
  readonly name = 'LockSessions1763500000506';

  async up(db: QueryRunner): Promise<void> {
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

      -- The only change of the function: it calls lock_sessions, which replays call too.
      CREATE OR REPLACE FUNCTION record_notifications(given jsonb, now timestamptz, lease uuid, lease_end timestamptz) RETURNS SETOF uuid
      LANGUAGE plpgsql AS $$
      BEGIN
        -- Wait for the locks first. Each later statement has a new snapshot, so it sees the rows that the previous
        -- holder of the locks committed.
        PERFORM lock_sessions(ARRAY(SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid)));

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
