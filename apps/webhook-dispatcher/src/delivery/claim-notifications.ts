import type { HostedApiVersion, Mode, PaymentStatusText } from '@svc/contracts';
import type { DataSource } from 'typeorm';
import type { NotificationFields } from '../notifications/notification.js';

/** A notification that this worker alone may send until its lease ends. */
export interface ClaimedNotification {
  readonly id: string;
  readonly leaseId: string;
  readonly leasedUntil: Date;
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly apiVersion: HostedApiVersion;
  readonly paymentStatus: PaymentStatusText;
  readonly url: string;
  readonly endpoint: string;
  readonly fields: NotificationFields;
  /** Tries of the schedule already made. */
  readonly schedulePosition: number;
  readonly createdAt: Date;
  /** Trace of the payment. */
  readonly traceparent: string | null;
}

export interface Claim {
  readonly now: Date;
  /** New for each claim: it fences the results (record-tries.ts). */
  readonly leaseId: string;
  /** Later than any try can end: see LEASE_MS of the worker. */
  readonly leasedUntil: Date;
  readonly max: number;
  readonly maxPerEndpoint: number;
  /** Endpoints this worker is sending to, and how many at once. */
  readonly busy: ReadonlyMap<string, number>;
}

/**
 * Takes what is due, oldest first, at most `maxPerEndpoint` for each endpoint: one statement. It walks the endpoints
 * that have something pending by skipping through the index, so an endpoint with a hundred thousand due rows costs as
 * much as one with ten, and hides nobody (E6).
 *
 * While it is leased, a row is due again at the end of its lease: a worker that dies leaves nothing to clean up.
 *
 * A Success is left alone while a Failed of its session is under a lease, since the two would race on the wire and
 * the merchant might see Failed after Success (E2). That no new lease on a Failed can begin once the Success is
 * visible, and that every earlier one is visible by then, is argued at record-notifications.ts.
 */
export async function claimNotifications(dataSource: DataSource, claim: Claim): Promise<ClaimedNotification[]> {
  const [rows] = await dataSource.query<[ClaimedNotification[], number]>(
    `WITH RECURSIVE endpoints AS (
       (SELECT endpoint FROM notifications WHERE state = 'pending' ORDER BY endpoint LIMIT 1)
       UNION ALL
       SELECT (SELECT n.endpoint FROM notifications n
                WHERE n.state = 'pending' AND n.endpoint > endpoints.endpoint ORDER BY n.endpoint LIMIT 1)
         FROM endpoints WHERE endpoints.endpoint IS NOT NULL
     ), due AS (
       SELECT picked.id
         FROM endpoints
         LEFT JOIN unnest($5::text[], $6::int[]) AS busy(endpoint, in_flight) ON busy.endpoint = endpoints.endpoint
        CROSS JOIN LATERAL (
              SELECT n.id, n.next_attempt_at
                FROM notifications n
               WHERE n.endpoint = endpoints.endpoint AND n.state = 'pending' AND n.next_attempt_at <= $1
                 AND (n.leased_until IS NULL OR n.leased_until <= $1)
                 AND (n.payment_status = 'Failed' OR NOT EXISTS (
                        SELECT 1 FROM notifications failed
                         WHERE failed.session_id = n.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > $1))
               ORDER BY n.next_attempt_at
               LIMIT greatest($4::int - coalesce(busy.in_flight, 0), 0)
                 FOR UPDATE SKIP LOCKED) AS picked
        ORDER BY picked.next_attempt_at
        LIMIT $3
     )
     UPDATE notifications SET lease_id = $7, leased_until = $2, next_attempt_at = $2
       FROM due WHERE notifications.id = due.id
     RETURNING notifications.id, lease_id AS "leaseId", leased_until AS "leasedUntil", merchant_id AS "merchantId", site_id AS "siteId", mode,
               api_version AS "apiVersion", payment_status AS "paymentStatus", url, endpoint, fields,
               schedule_position AS "schedulePosition", created_at AS "createdAt", traceparent`,
    [
      claim.now,
      claim.leasedUntil,
      claim.max,
      claim.maxPerEndpoint,
      [...claim.busy.keys()],
      [...claim.busy.values()],
      claim.leaseId,
    ],
  );
  return rows;
}

/**
 * Gives a lease back: due again at `nextAttemptAt`, or given up when there is none. Not a try. Does nothing when the
 * lease is no longer ours; a row superseded meanwhile only loses its lease.
 */
export async function giveBack(
  dataSource: DataSource,
  { id, leaseId }: Pick<ClaimedNotification, 'id' | 'leaseId'>,
  nextAttemptAt: Date | undefined,
): Promise<void> {
  await dataSource.query(
    `UPDATE notifications
        SET state = CASE WHEN state = 'pending' AND $3::timestamptz IS NULL THEN 'exhausted' ELSE state END,
            next_attempt_at = CASE WHEN state = 'pending' THEN $3::timestamptz END, lease_id = NULL, leased_until = NULL
      WHERE id = $1 AND lease_id = $2`,
    [id, leaseId, nextAttemptAt ?? null],
  );
}
