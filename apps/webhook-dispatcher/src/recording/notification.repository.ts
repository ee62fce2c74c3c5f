import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Reservation } from '../delivery/delivery-worker.js';
import { NOTIFICATION } from '../notifications/columns.js';
import type { NewNotification } from '../notifications/notification.js';

/** Inserts notifications. */
@Injectable()
export class NotificationRepository {
  /**
   * Inserts notifications. One that has a permit of the worker is inserted under the worker's lease, unless its circuit
   * is not closed, or a notification of a failed payment of its session is being sent (E2). All other notifications are
   * inserted without a lease. Returns the ids of the leased notifications.
   */
  async insertAll(
    db: Pick<EntityManager, 'query'>,
    notifications: readonly NewNotification[],
    now: Date,
    { lease, permitted }: Reservation,
  ): Promise<Set<string>> {
    const ofSessions = notifications.filter(({ sessionId }) => sessionId !== null);
    const leased = await db.query<{ id: string }[]>(
      `SELECT * FROM record_notifications($1, $2, $3, $4, $5, $6, $7) AS id`,
      [
        JSON.stringify(notifications.map(toRow)),
        ofSessions.map(({ sessionId }) => sessionId),
        ofSessions.flatMap(({ sessionId, paymentStatus }) => (paymentStatus === 'Success' ? [sessionId] : [])),
        now,
        permitted.map(({ id }) => id),
        lease.leaseId,
        lease.leasedUntil,
      ],
    );
    return new Set(leased.map(({ id }) => id));
  }
}

/** The members have the names of the columns. */
function toRow(notification: NewNotification): object {
  const properties = Object.keys(NOTIFICATION) as (keyof typeof NOTIFICATION)[];
  return Object.fromEntries(properties.map((property) => [NOTIFICATION[property][0], notification[property]]));
}
