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
 * Inserts one notification for the session of each payment, and one for its site while the site's webhook is enabled (M6).
 * For a session it applies E2: a Success supersedes every Failed that was not acknowledged, and a Failed that arrives after
 * the Success is inserted as superseded. Notifications of a site are never superseded. It sends nothing: notifications for
 * which the worker of this process has a slot are inserted with its lease and returned to it. The others are pending until
 * a worker leases them.
 *
 * The worker relies on these guarantees:
 * - Once a Success is visible, every Failed of its session is either superseded, acknowledged, or under a lease that
 *   is visible too. A lock on the session, which the function takes first, serialises two recordings (replay.repository.ts).
 *   A worker locks the row that it leases: if it is first, the superseding UPDATE waits for it and keeps its lease; if it is
 *   second, it skips the locked row and later finds it superseded. A Failed that is inserted with a lease has it before the
 *   lock is released.
 * - So a lease of the Success only has to check for a Failed whose lease has not ended: see delivery-lease.repository.ts.
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

/** For a session: final payments. For a site: refunds too. */
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
