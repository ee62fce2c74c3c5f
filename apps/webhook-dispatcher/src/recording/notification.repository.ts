import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Slots } from '../delivery/delivery-worker.js';
import type { NewNotification } from './new-notification.js';

/** Inserts notifications. */
@Injectable()
export class NotificationRepository {
  /**
   * Inserts notifications. A notification for which the worker has reserved a slot (one request in flight) is inserted
   * under `lease` if E2 allows it. All other notifications are inserted without a lease. Returns the ids of the leased
   * notifications.
   */
  async insertAll(
    db: Pick<EntityManager, 'query'>,
    notifications: readonly { readonly notification: NewNotification; readonly hasSlot: boolean }[],
    now: Date,
    lease: Pick<Slots, 'leaseId' | 'leasedUntil'> | undefined,
  ): Promise<string[]> {
    const rows = notifications.map(({ notification, hasSlot }) => ({ ...buildRow(notification), has_capacity: hasSlot }));
    const leased = await db.query<{ id: string }[]>(`SELECT * FROM record_notifications($1, $2, $3, $4) AS id`, [
      JSON.stringify(rows),
      now,
      lease?.leaseId,
      lease?.leasedUntil,
    ]);
    return leased.map(({ id }) => id);
  }
}

function buildRow(notification: NewNotification): object {
  const { id, mode, recipient, url, endpoint, fields, traceparent } = notification;
  return {
    ...{ id, mode, recipient, url, endpoint, fields, traceparent },
    webhook_id: notification.webhookId,
    type: notification.recipient === 'site' ? notification.fields.type : 'payment',
    merchant_id: notification.merchantId,
    site_id: notification.siteId,
    api_version: notification.apiVersion,
    session_id: notification.sessionId ?? null,
    payment_reference: notification.paymentReference,
    payment_status: notification.paymentStatus,
  };
}
