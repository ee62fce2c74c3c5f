import { Inject, Injectable } from '@nestjs/common';
import { isHostedPayment } from '@svc/contracts';
import { Clock, hasNotification, isPaymentOutcome } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import { DeliveryWorker } from '../delivery/delivery-worker.js';
import type { NewNotification } from '../notifications/notification.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.query.js';
import { type PaymentEvent, sessionNotification, siteNotification } from './new-notification.js';
import { NotificationRepository } from './notification.repository.js';

/**
 * Inserts one notification for the session of each payment. If the webhook of the payment's site is enabled, inserts
 * one notification for the site too (M6). A notification for which the worker of this process has a permit is inserted
 * under the worker's lease and sent immediately, which saves the transaction of a lease request (ADR 74). All other
 * notifications are pending until a worker leases them.
 *
 * The rules are in three places, because the last of them need the rows of other transactions:
 * - this file: whether a payment has a notification, and for which recipient
 * - `DeliveryWorker.reserve`: whether this process has a permit, so that it may send a notification immediately
 * - the database function `record_notifications` (in the folder `migrations`): whether a notification is inserted as
 *   superseded, and whether a circuit or a Failed that is being sent prevents the lease
 *
 * A "Success" is the notification of a successful payment, a "Failed" is the notification of a failed payment. In a
 * session a Success supersedes every Failed that was not acknowledged. A Failed that arrives after the Success is
 * inserted as superseded (E2). Notifications of a site are never superseded.
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
    @Inject(DeliveryWorker) private readonly worker: Pick<DeliveryWorker, 'reserve' | 'send' | 'free'>,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(db: Pick<EntityManager, 'query'>, events: readonly PaymentEvent[]): Promise<void> {
    const notifications = await buildNotifications(db, events);
    if (notifications.length === 0) return;
    const createdAt = this.clock.now();
    const reservation = this.worker.reserve(notifications);
    try {
      const leasedIds = await this.notifications.insertAll(db, notifications, createdAt, reservation);
      const leased = reservation.permitted.filter(({ id }) => leasedIds.has(id));
      await this.worker.send(
        leased.map((notification) => ({ ...notification, ...reservation.lease, schedulePosition: 0, createdAt })),
      );
    } finally {
      this.worker.free(reservation);
    }
  }
}

/** A session has notifications of final payments. A site also has notifications of refunds and disputes. */
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
