import { Inject, Injectable } from '@nestjs/common';
import { isHosted } from '@svc/contracts';
import { Clock, hasNotice, isPaymentOutcome } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { LeasedNotification } from '../delivery/delivery-lease.repository.js';
import type { Places } from '../delivery/delivery-worker.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.query.js';
import { NotificationRepository } from './notification.repository.js';
import { type NewNotification, type PaymentEvent, sessionNotification, siteNotification } from './new-notification.js';

/**
 * Writes one notification for the session of each payment, and one for its site while the site's webhook is enabled (M6).
 * Between those of a session it settles E2: a success supersedes every Failed that was not acknowledged, and a Failed that
 * comes after the success is superseded from the start. Those of a site have no session, so nothing supersedes
 * them. No HTTP here; those that a worker of this process has a place for are under its lease from the start, and
 * are returned for it to send. The others are pending until a worker leases them.
 *
 * What the worker relies on, and why it holds:
 * - Once a Success is visible, every Failed of its session is either superseded, acknowledged, or under a lease that
 *   is visible too. Two recordings are serialised by a lock on the session, which the function takes first
 *   (replay.repository.ts). A worker locks the row it leases: if it was first, the superseding UPDATE waits for it and keeps its
 *   lease; if it was second, it skips the locked row, and later finds it superseded. A Failed that is leased from the
 *   start is so before the lock is released.
 * - So a lease of the Success need only look for a lease that has not ended: see delivery-lease.repository.ts.
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
    places?: Places,
  ): Promise<LeasedNotification[]> {
    const notifications = await notificationsOf(db, events);
    if (notifications.length === 0) return [];
    const now = this.clock.now();
    const given = notifications.map((notification) => ({
      notification,
      hasPlace: places?.take(notification) ?? false,
    }));
    const ids = new Set(await this.notifications.insertAll(db, given, now, places));
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
