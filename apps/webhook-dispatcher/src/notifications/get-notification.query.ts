import type { NotificationFields, PaymentNotification } from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { DELIVERY_ATTEMPT } from './columns.js';
import { type NotificationSummary, SUMMARY_COLUMNS } from './list-notifications.query.js';

/** One delivery attempt. Times are ISO 8601 UTC with milliseconds (C2). */
export interface DeliveryAttempt {
  /** The number of the attempt, from 1. */
  attemptNumber: number;
  startedAt: string;
  /** Milliseconds. */
  durationMs: number;
  /** `acknowledged`: status 2xx. `refused`: another status. `unanswered`: no status, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, `address-refused:private`. */
  errorClass: string | null;
  /** Advice if the response is probably a mistake of the endpoint: an HTML page, or a redirect. */
  hint: string | null;
  /** The beginning of the response body, at most 2000 characters. */
  response: string | null;
}

export interface NotificationDetails extends NotificationSummary {
  /**
   * The body that is sent. To a session: `NotificationFields`, without the signature. To a site: `PaymentNotification`.
   * Amounts are in cents.
   */
  fields: NotificationFields | PaymentNotification;
  /** Newest first, at most 100. */
  attempts: DeliveryAttempt[];
}

/**
 * Reads a notification of any merchant, for administrators. Throws `resource.not-found` for an unknown or invalid id.
 */
export async function getNotification(dataSource: DataSource, id: string): Promise<NotificationDetails> {
  if (!isUuid(id)) throw new DomainError('resource.not-found');
  const [notification] = await dataSource.query<(NotificationSummary & Pick<NotificationDetails, 'fields'>)[]>(
    `SELECT ${SUMMARY_COLUMNS}, fields FROM notifications WHERE id = $1`,
    [id],
  );
  if (!notification) throw new DomainError('resource.not-found');
  const attempts = await dataSource.query<DeliveryAttempt[]>(
    `SELECT attempt_number AS "attemptNumber", ${selectedColumns(DELIVERY_ATTEMPT)}, response
       FROM delivery_attempts WHERE notification_id = $1 ORDER BY attempt_number DESC LIMIT 100`,
    [id],
  );
  return { ...notification, attempts };
}
