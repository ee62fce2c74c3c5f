import { type EventEnvelope, notificationFields, type PaymentSnapshot } from '@svc/contracts';
import { type Clock, notificationIdOf } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { ClaimedNotification } from '../delivery/claim-notifications.js';
import type { Places } from '../delivery/delivery-worker.js';
import { endpointOf } from './notification.js';

/** What is read of an event of a payment that became final. */
export type PaymentEvent = Pick<EventEnvelope<PaymentSnapshot>, 'payload' | 'traceparent'>;

/**
 * Writes one notification for each payment, and settles E2 between it and the others of its session: a success
 * supersedes every Failed that was not acknowledged, and a Failed that comes after the success is superseded from
 * the start. No HTTP here; those that a worker of this process has a place for are under its lease from the start, and
 * are returned for it to send. The others are pending until a worker claims them.
 *
 * What the worker relies on, and why it holds:
 * - Once a Success is visible, every Failed of its session is either superseded, acknowledged, or under a lease that
 *   is visible too. Two recordings are serialised by a lock on the session, which the function takes first
 *   (session-lock.ts). A claim locks the row it takes: if it was first, the superseding UPDATE waits for it and keeps its
 *   lease; if it was second, it skips the locked row, and later finds it superseded. A Failed that is leased from the
 *   start is so before the lock is released.
 * - So a claim of the Success need only look for a lease that has not ended: see claim-notifications.ts.
 */
export async function recordNotifications(
  db: Pick<EntityManager, 'query'>,
  clock: Clock,
  events: readonly PaymentEvent[],
  places?: Places,
): Promise<ClaimedNotification[]> {
  const now = clock.now();
  const notifications = events.map(({ payload: payment, traceparent = null }) => ({
    id: notificationIdOf(payment),
    merchantId: payment.merchantId,
    siteId: payment.siteId,
    mode: payment.mode,
    apiVersion: payment.source.apiVersion,
    url: payment.source.notificationUrl,
    endpoint: endpointOf(payment.source.notificationUrl),
    fields: notificationFields(payment),
    traceparent,
  }));
  const rows = notifications.map(({ merchantId, siteId, apiVersion, ...notification }) => ({
    ...notification,
    merchant_id: merchantId,
    site_id: siteId,
    api_version: apiVersion,
    session_id: notification.fields.sessionId,
    payment_reference: notification.fields.paymentReference,
    payment_status: notification.fields.paymentStatus,
    has_place: places?.take({ merchantId, endpoint: notification.endpoint }) ?? false,
  }));
  const leased = await db.query<{ id: string }[]>(`SELECT * FROM record_notifications($1, $2, $3, $4) AS id`, [
    JSON.stringify(rows),
    now,
    places?.leaseId,
    places?.leasedUntil,
  ]);
  const ids = new Set(leased.map(({ id }) => id));
  return notifications
    .filter(({ id }) => ids.has(id))
    .map((notification) => ({
      ...notification,
      paymentStatus: notification.fields.paymentStatus,
      leaseId: places!.leaseId,
      leasedUntil: places!.leasedUntil,
      schedulePosition: 0,
      createdAt: now,
    }));
}
