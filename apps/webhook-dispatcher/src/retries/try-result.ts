import type { Answer } from '../endpoint/post-notification.js';
import type { NotificationState } from '../notifications/notification.js';
import { retryAfterMs, waitAfter } from './retry-schedule.js';

/** What a try means for its notification. */
export type TryOutcome = 'acknowledged' | 'refused' | 'unanswered';

export interface TryResult {
  readonly outcome: TryOutcome;
  readonly state: Exclude<NotificationState, 'superseded'>;
  /** When the next try is due; only while pending. */
  readonly nextAttemptAt: Date | undefined;
}

export interface Judging {
  /** Tries of the schedule, this one included. */
  readonly triesMade: number;
  readonly now: Date;
  /** At least 0 and below 1. */
  readonly random: number;
}

/**
 * Any 2xx acknowledges (E1). 410 stops. Everything else, a refused address included, is tried again as the schedule
 * says; 429 and 503 may ask for a longer wait (E5).
 */
export function judgeTry(answer: Answer, { triesMade, now, random }: Judging): TryResult {
  const { statusCode } = answer;
  const outcome = outcomeOf(statusCode);
  if (outcome === 'acknowledged') return { outcome, state: 'delivered', nextAttemptAt: undefined };
  if (statusCode === 410) return { outcome, state: 'gone', nextAttemptAt: undefined };

  const scheduled = waitAfter(triesMade, random);
  if (scheduled === undefined) return { outcome, state: 'exhausted', nextAttemptAt: undefined };
  const asked = statusCode === 429 || statusCode === 503 ? retryAfterMs(answer.retryAfter, now) : undefined;
  return { outcome, state: 'pending', nextAttemptAt: new Date(now.getTime() + Math.max(scheduled, asked ?? 0)) };
}

function outcomeOf(statusCode: number | undefined): TryOutcome {
  if (statusCode === undefined) return 'unanswered';
  return statusCode >= 200 && statusCode < 300 ? 'acknowledged' : 'refused';
}
