/** The retry schedule of notifications (E5). It has no side effects: random numbers and the time are arguments. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Wait before each attempt, the first included: 12 attempts over about three days. */
export const RETRY_SCHEDULE_MS: readonly number[] = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  1 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];

/** Each wait varies by ±20 %, so that notifications that failed at the same time are not retried at the same time. */
const JITTER = 0.2;
/** Longest duration of the whole schedule without Retry-After. */
export const MAX_SCHEDULE_MS = Math.ceil(RETRY_SCHEDULE_MS.reduce((sum, wait) => sum + wait, 0) * (1 + JITTER));
/** An endpoint cannot delay an attempt for longer than the longest wait of the schedule. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Milliseconds to wait after `attemptCount` attempts of this schedule, ±20 %, or undefined when no attempt is left.
 * `random` is at least 0 and below 1.
 */
export function retryDelayMs(attemptCount: number, random: number): number | undefined {
  const wait = RETRY_SCHEDULE_MS[attemptCount];
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/** A Retry-After header (seconds or an HTTP date) in milliseconds from `now`, bounded; undefined when invalid. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND, MAX_RETRY_AFTER_MS);
  // Only the format of RFC 9110: Date.parse alone would also accept `-5` or `1 apple`.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now.getTime(), 0), MAX_RETRY_AFTER_MS);
}

const MIN_KEY_WAIT_MS = SECOND;
const MAX_KEY_WAIT_MS = 5 * MINUTE;
const MAX_TOTAL_KEY_WAIT_MS = 72 * HOUR;

/**
 * Milliseconds until the next check for missing signing keys, by the age of the notification: at first a second, then
 * longer. Such a check is not an attempt. Undefined when the notification is as old as the whole schedule takes.
 */
export function keyRetryDelayMs(ageMs: number): number | undefined {
  if (ageMs >= MAX_TOTAL_KEY_WAIT_MS) return undefined;
  return Math.min(Math.max(Math.round(ageMs / 4), MIN_KEY_WAIT_MS), MAX_KEY_WAIT_MS);
}
