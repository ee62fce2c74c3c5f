import type { WebhookResponse } from '../endpoint/webhook-client.js';
import type { NotificationState } from '../notifications/notification.js';
import { retryAfterMs, retryDelayMs } from './retry-schedule.js';

export type AttemptOutcome = 'acknowledged' | 'refused' | 'unanswered';

export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly state: Exclude<NotificationState, 'superseded'>;
  /** When the next attempt is due; only while pending. */
  readonly nextAttemptAt: Date | undefined;
}

export interface AttemptContext {
  /** Attempts of the schedule, this one included. */
  readonly attemptCount: number;
  readonly now: Date;
  /** At least 0 and below 1. */
  readonly random: number;
}

/**
 * Any 2xx acknowledges (E1). 410 stops. Everything else, a rejected address included, is retried according to the schedule;
 * Retry-After of a 429 or 503 may make the wait longer (E5).
 */
export function classifyResponse(
  response: WebhookResponse,
  { attemptCount, now, random }: AttemptContext,
): AttemptResult {
  const { statusCode } = response;
  const outcome = classifyStatus(statusCode);
  if (outcome === 'acknowledged') return { outcome, state: 'delivered', nextAttemptAt: undefined };
  if (statusCode === 410) return { outcome, state: 'gone', nextAttemptAt: undefined };

  const scheduled = retryDelayMs(attemptCount, random);
  if (scheduled === undefined) return { outcome, state: 'exhausted', nextAttemptAt: undefined };
  const requested = statusCode === 429 || statusCode === 503 ? retryAfterMs(response.retryAfter, now) : undefined;
  return { outcome, state: 'pending', nextAttemptAt: new Date(now.getTime() + Math.max(scheduled, requested ?? 0)) };
}

function classifyStatus(statusCode: number | undefined): AttemptOutcome {
  if (statusCode === undefined) return 'unanswered';
  return statusCode >= 200 && statusCode < 300 ? 'acknowledged' : 'refused';
}
