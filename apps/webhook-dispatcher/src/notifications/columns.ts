import type { ColumnMap } from '@svc/persistence';
import type { NewNotification } from './notification.js';

/** The columns that a notification has from its beginning. The function `record_notifications` inserts them. */
export const NOTIFICATION = {
  id: ['id', 'uuid'],
  webhookId: ['webhook_id', 'uuid'],
  recipient: ['recipient', 'text'],
  type: ['type', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  mode: ['mode', 'text'],
  sessionId: ['session_id', 'uuid'],
  paymentReference: ['payment_reference', 'text'],
  paymentStatus: ['payment_status', 'text'],
  apiVersion: ['api_version', 'text'],
  url: ['url', 'text'],
  endpoint: ['endpoint', 'text'],
  fields: ['fields', 'json'],
  traceparent: ['traceparent', 'text'],
} as const satisfies ColumnMap<keyof NewNotification>;

/** The columns of a delivery attempt, without its notification, its number and the response for support. */
export const DELIVERY_ATTEMPT = {
  startedAt: ['started_at', 'timestamptz'],
  durationMs: ['duration_ms', 'int'],
  outcome: ['outcome', 'text'],
  statusCode: ['status_code', 'int'],
  errorClass: ['error_class', 'text'],
  hint: ['hint', 'text'],
} as const satisfies ColumnMap;
