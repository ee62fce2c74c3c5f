import { Inject, Injectable } from '@nestjs/common';
import { isHostedPayment } from '@svc/contracts';
import { Clock, hasNotice, isPaymentOutcome } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { LeasedNotification } from '../delivery/delivery-lease.repository.js';
import type { Slots } from '../delivery/delivery-worker.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.query.js';
import { type NewNotification, type PaymentEvent, sessionNotification, siteNotification } from './new-notification.js';
import { NotificationRepository } from './notification.repository.js';

/**
 * Inserts one notification for the session of each payment, and one for its site while the site's webhook is enabled
 * (M6). "Success" and "Failed" are notifications of a successful and of a failed payment. In a session (E2) a Success
 * supersedes every Failed that was not acknowledged, and a Failed that arrives after the Success is inserted as
 * superseded. Notifications of a site are never superseded. This class does not send: it inserts a notification under
 * the lease of this process's worker if the worker has a slot for it, and returns it to the worker. The other
 * notifications are pending until a worker leases them.
 *
 * The worker relies on this guarantee: once a Success is visible, every Failed of its session is superseded,
 * acknowledged, or under a lease that is visible too. Therefore a lease of the Success only has to check for a Failed
 * whose lease has not ended (delivery-lease.repository.ts). The guarantee holds because:
 * - The database function locks the session first, so two recordings of one session run one after the other.
 * - A worker locks the row that it leases. If the worker is first, the superseding UPDATE waits and does not remove the
 *   lease. If the UPDATE is first, the worker skips the locked row and later finds it superseded.
 * - A Failed that is inserted with a lease has the lease before the lock on the session is released.
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
      ...(webhook === undefined || !hasNotice(payload) ? [] : [siteNotification({ ...event, payload }, webhook)]),
    ];
  });
}
