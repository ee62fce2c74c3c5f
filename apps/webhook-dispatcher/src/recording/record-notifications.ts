import { isHosted } from '@svc/contracts';
import { type Clock, hasNotice, isPaymentOutcome } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { ClaimedNotification } from '../delivery/claim-notifications.js';
import type { Places } from '../delivery/delivery-worker.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.js';
import { type NewNotification, type PaymentEvent, sessionNotification, siteNotification } from './new-notification.js';

/**
 * Writes one notification for the session of each payment, and one for its site while the site's webhook is enabled (M6).
 * Between those of a session it settles E2: a success supersedes every Failed that was not acknowledged, and a Failed that
 * comes after the success is superseded from the start. Those of a site have no session, so nothing supersedes
 * them. No HTTP here; those that a worker of this process has a place for are under its lease from the start, and
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
  const notifications = await notificationsOf(db, events);
  if (notifications.length === 0) return [];
  const now = clock.now();
  const rows = notifications.map((notification) => ({
    ...rowOf(notification),
    has_place: places?.take(notification) ?? false,
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
      leaseId: places!.leaseId,
      leasedUntil: places!.leasedUntil,
      schedulePosition: 0,
      createdAt: now,
    }));
}

/** A session is notified of final payments, a site of refunds as well. */
async function notificationsOf(
  db: Pick<EntityManager, 'query'>,
  events: readonly PaymentEvent[],
): Promise<NewNotification[]> {
  const webhookOf = await findWebhooks(
    db,
    events.map(({ payload }) => payload),
  );
  return events.flatMap(({ payload, ...event }) => {
    const webhook = webhookOf(payload);
    return [
      ...(isHosted(payload) && isPaymentOutcome(payload) ? [sessionNotification({ ...event, payload })] : []),
      ...(webhook === undefined || !hasNotice(payload) ? [] : [siteNotification({ ...event, payload }, webhook)]),
    ];
  });
}

function rowOf(notification: NewNotification): object {
  const { id, mode, recipient, url, endpoint, fields, traceparent } = notification;
  return {
    ...{ id, mode, recipient, url, endpoint, fields, traceparent },
    webhook_id: recipient === 'site' ? notification.webhookId : null,
    type: notification.recipient === 'site' ? notification.fields.type : 'payment',
    merchant_id: notification.merchantId,
    site_id: notification.siteId,
    api_version: notification.apiVersion,
    session_id: notification.sessionId ?? null,
    payment_reference: notification.paymentReference,
    payment_status: notification.paymentStatus,
  };
}
