import { Inject, Injectable } from '@nestjs/common';
import { isHostedPayment } from '@svc/contracts';
import { Clock, hasNotification, isPaymentOutcome } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { LeasedNotification } from '../delivery/delivery-lease.repository.js';
import type { Slots } from '../delivery/delivery-worker.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.query.js';
import { type NewNotification, type PaymentEvent, sessionNotification, siteNotification } from './new-notification.js';
import { NotificationRepository } from './notification.repository.js';

/**
 * Inserts one notification for the session of each payment. If the webhook of the payment's site is enabled, inserts
 * one notification for the site too (M6). A "Success" is the notification of a successful payment, a "Failed" is the
 * notification of a failed payment. In a session (E2) a Success supersedes every Failed that was not acknowledged. A
 * Failed that arrives after the Success is inserted as superseded. Notifications of a site are never superseded.
 *
 * This class does not send. If the worker of this process has reserved a slot (one request in flight) for a
 * notification, the notification is inserted under the lease of the worker and returned to the worker. All other
 * notifications are pending until a worker leases them.
 *
 * The worker relies on this guarantee: once a Success is visible, every Failed of its session is superseded,
 * acknowledged, or under a lease that is visible too. Therefore a lease request for the Success only has to check that
 * no Failed has a lease that has not ended (delivery-lease.repository.ts). The guarantee holds because:
 * - The database function locks the session first, so two recordings of one session run one after the other.
 * - A worker locks the row that it leases. If the worker locks first, the superseding UPDATE waits and does not remove
 *   the lease. If the UPDATE locks first, the worker skips the locked row and later finds the row superseded.
 * - If a Failed is inserted with a lease, the lock on the session is released only after the insert.
 */
@Injectable()
export class RecordNotifications {
  constructor(
    @Inject(NotificationRepository) private readonly notifications: NotificationRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(
    db: Pick<EntityManager, 'query'>,
    events: readonly PaymentEvent[],
    slots?: Slots,
  ): Promise<LeasedNotification[]> {
    const notifications = await buildNotifications(db, events);
    if (notifications.length === 0) return [];
    const now = this.clock.now();
    const inserts = notifications.map((notification) => ({
      notification,
      hasSlot: slots?.tryAcquire(notification) ?? false,
    }));
    const ids = new Set(await this.notifications.insertAll(db, inserts, now, slots));
    return notifications
      .filter(({ id }) => ids.has(id))
      .map((notification) => ({
        ...notification,
        leaseId: slots!.leaseId,
        leasedUntil: slots!.leasedUntil,
        schedulePosition: 0,
        createdAt: now,
      }));
  }
}

/** A session has notifications of final payments. A site also has notifications of refunds. */
async function buildNotifications(
  db: Pick<EntityManager, 'query'>,
  events: readonly PaymentEvent[],
): Promise<NewNotification[]> {
  const findWebhook = await findWebhooks(
    db,
    events.map(({ payload }) => payload),
  );
  return events.flatMap(({ payload, ...event }) => {
    const webhook = findWebhook(payload);
    return [
      ...(isHostedPayment(payload) && isPaymentOutcome(payload) ? [sessionNotification({ ...event, payload })] : []),
      ...(webhook === undefined || !hasNotification(payload) ? [] : [siteNotification({ ...event, payload }, webhook)]),
    ];
  });
}
