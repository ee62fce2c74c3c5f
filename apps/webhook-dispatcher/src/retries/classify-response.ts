import type { WebhookResponse } from '../endpoint/webhook-client.js';
import type { NotificationState } from '../notifications/notification.js';
import { retryAfterMs, retryDelayMs } from './retry-schedule.js';

type DeliveryAttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

export interface DeliveryAttemptResult {
  readonly outcome: DeliveryAttemptOutcome;
  readonly state: Exclude<NotificationState, 'superseded'>;
  /** Time of the next attempt. Undefined if `state` is not pending. */
  readonly nextAttemptAt: Date | undefined;
}

interface DeliveryAttemptContext {
  /** Number of attempts since the schedule began, including this attempt. */
  readonly attemptCount: number;
  readonly now: Date;
  /** A random number for the jitter, at least 0 and below 1. */
  readonly random: number;
}

/**
 * Decides the result of an attempt. A response 2xx acknowledges the notification (E1). After a 410 the notification is
 * never sent again. After any other status, without a response, or if the address was rejected, the notification is
 * retried by the schedule. The header Retry-After of a 429 or 503 can make the wait longer (E5).
 */
export function classifyResponse(
  response: WebhookResponse,
  { attemptCount, now, random }: DeliveryAttemptContext,
): DeliveryAttemptResult {
  const { statusCode } = response;
  const outcome = classifyStatus(statusCode);
  if (outcome === 'acknowledged') return { outcome, state: 'delivered', nextAttemptAt: undefined };
  if (statusCode === 410) return { outcome, state: 'gone', nextAttemptAt: undefined };

  const scheduledDelayMs = retryDelayMs(attemptCount, random);
  if (scheduledDelayMs === undefined) return { outcome, state: 'exhausted', nextAttemptAt: undefined };
  const requestedDelayMs =
    statusCode === 429 || statusCode === 503 ? retryAfterMs(response.retryAfter, now) : undefined;
  const delayMs = Math.max(scheduledDelayMs, requestedDelayMs ?? 0);
  return { outcome, state: 'pending', nextAttemptAt: new Date(now.getTime() + delayMs) };
}

function classifyStatus(statusCode: number | undefined): DeliveryAttemptOutcome {
  if (statusCode === undefined) return 'unanswered';
  return statusCode >= 200 && statusCode < 300 ? 'acknowledged' : 'refused';
}
