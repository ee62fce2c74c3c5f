import type { DeliveryRequest } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { NotificationContent } from '../notifications/notification.js';

export type StoredContent = NotificationContent & {
  readonly webhookId: string;
  /** Null before the first attempt. */
  readonly lastStartedAt: Date | null;
};

/** $1 merchant, $2 site, $3 mode, $4 id. */
const FIND = `
  SELECT n.webhook_id AS "webhookId", n.recipient, n.type, n.api_version AS "apiVersion", n.fields,
         a.started_at AS "lastStartedAt"
    FROM notifications n
    LEFT JOIN delivery_attempts a ON a.notification_id = n.id AND a.attempt_number = n.attempt_count
   WHERE n.merchant_id = $1 AND n.site_id = $2 AND n.mode = $3 AND n.id = $4`;

/** Undefined for an unknown or invalid id, and for a delivery of another owner. */
export async function findDeliveryContent(
  dataSource: DataSource,
  { owner, id }: DeliveryRequest,
): Promise<StoredContent | undefined> {
  if (!isUuid(id)) return undefined;
  const { merchantId, siteId, mode } = owner;
  const [found] = await dataSource.query<StoredContent[]>(FIND, [merchantId, siteId, mode, id]);
  return found;
}
