import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Places } from '../delivery/delivery-worker.js';
import type { NewNotification } from './new-notification.js';

/** Writes notifications as they are recorded. */
@Injectable()
export class NotificationRepository {
  /** Returns the ids of those that are new and under the lease of `lease`. Those without a place are pending. */
  async insertAll(
    db: Pick<EntityManager, 'query'>,
    given: readonly { readonly notification: NewNotification; readonly hasPlace: boolean }[],
    now: Date,
    lease: Pick<Places, 'leaseId' | 'leasedUntil'> | undefined,
  ): Promise<string[]> {
    const rows = given.map(({ notification, hasPlace }) => ({ ...rowOf(notification), has_place: hasPlace }));
    const leased = await db.query<{ id: string }[]>(`SELECT * FROM record_notifications($1, $2, $3, $4) AS id`, [
      JSON.stringify(rows),
      now,
      lease?.leaseId,
      lease?.leasedUntil,
    ]);
    return leased.map(({ id }) => id);
  }
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
