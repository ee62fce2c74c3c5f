import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import { endpointOf, notificationFields } from './notification.js';
import { lockSessions } from './session-lock.js';

/** What is read of an event of a payment that became final. */
export type PaymentEvent = Pick<EventEnvelope<PaymentSnapshot>, 'payload' | 'traceparent'>;

/**
 * Writes one notification for each payment, and settles E2 between it and the others of its session: a success
 * supersedes every Failed that was not acknowledged, and a Failed that comes after the success is superseded from
 * the start. No HTTP here; the worker sends what is pending.
 *
 * What the worker relies on, and why it holds:
 * - Once a Success is visible, every Failed of its session is either superseded, acknowledged, or under a lease that
 *   is visible too. Two recordings are serialised by {@link lockSessions}. A claim locks the row it takes: if it was
 *   first, the superseding UPDATE below waits for it and keeps its lease; if it was second, it skips the locked row,
 *   and later finds it superseded.
 * - So a claim of the Success need only look for a lease that has not ended: see claim-notifications.ts.
 */
export async function recordNotifications(
  tx: EntityManager,
  clock: Clock,
  events: readonly PaymentEvent[],
): Promise<void> {
  await lockSessions(
    tx,
    events.map(({ payload }) => payload.source.sessionId),
  );
  const rows = events.map(({ payload: payment, traceparent }) => {
    const fields = notificationFields(payment);
    return {
      id: newUuid(clock),
      merchant_id: payment.merchantId,
      site_id: payment.siteId,
      mode: payment.mode,
      session_id: fields.sessionId,
      payment_reference: fields.paymentReference,
      payment_status: fields.paymentStatus,
      api_version: payment.source.apiVersion,
      url: payment.source.notificationUrl,
      endpoint: endpointOf(payment.source.notificationUrl),
      fields,
      traceparent,
    };
  });
  // A payment is notified once, whatever comes twice.
  await tx.query(
    `INSERT INTO notifications (id, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version,
                                url, endpoint, fields, traceparent, state, next_attempt_at, created_at)
     SELECT id, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version, url, endpoint, fields,
            traceparent, CASE WHEN late THEN 'superseded' ELSE 'pending' END, CASE WHEN late THEN NULL ELSE $2::timestamptz END, $2
       FROM (SELECT given.*, given.payment_status = 'Failed' AND EXISTS (
                      SELECT 1 FROM notifications paid
                       WHERE paid.session_id = given.session_id AND paid.payment_status = 'Success') AS late
               FROM jsonb_to_recordset($1::jsonb) AS given(
                      id uuid, merchant_id bigint, site_id bigint, mode text, session_id uuid, payment_reference text,
                      payment_status text, api_version text, url text, endpoint text, fields jsonb,
                      traceparent text)) AS judged
     ON CONFLICT (payment_reference) DO NOTHING`,
    [JSON.stringify(rows), clock.now()],
  );
  const paidSessions = rows.filter((row) => row.payment_status === 'Success').map((row) => row.session_id);
  if (paidSessions.length === 0) return;
  // The lease stays: whoever is sending it right now finishes, and the Success waits for that.
  await tx.query(
    `UPDATE notifications SET state = 'superseded', next_attempt_at = NULL
      WHERE session_id = ANY ($1::uuid[]) AND payment_status = 'Failed' AND state IN ('pending', 'exhausted', 'gone')`,
    [paidSessions],
  );
}
