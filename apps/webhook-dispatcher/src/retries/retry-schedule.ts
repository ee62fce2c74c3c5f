/** The retry schedule of notifications (E5). Functions have no side effects: random numbers and time are arguments. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each attempt, including the first attempt. There are 12 attempts in about three days. */
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
/** The longest duration of the whole schedule if no endpoint sends Retry-After. */
export const MAX_SCHEDULE_MS = Math.ceil(RETRY_SCHEDULE_MS.reduce((sum, wait) => sum + wait, 0) * (1 + JITTER));
/** An endpoint cannot delay an attempt for longer than the longest wait of the schedule. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/**
 * Returns the milliseconds to wait after `attemptCount` attempts of the schedule, with a jitter of ±20 %. Returns
 * undefined when no attempt is left. `random` is at least 0 and below 1.
 */
export function retryDelayMs(attemptCount: number, random: number): number | undefined {
  const wait = RETRY_SCHEDULE_MS[attemptCount];
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/**
 * Returns the milliseconds from `now` until the time in a Retry-After header (seconds or an HTTP date), at most 24
 * hours. Returns undefined for an invalid header.
 */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND, MAX_RETRY_AFTER_MS);
  // Accepts only the format of RFC 9110, because Date.parse alone would also accept `-5` or `1 apple`.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now.getTime(), 0), MAX_RETRY_AFTER_MS);
}

const MIN_KEY_WAIT_MS = SECOND;
const MAX_KEY_WAIT_MS = 5 * MINUTE;
const MAX_TOTAL_KEY_WAIT_MS = 72 * HOUR;

/**
 * Returns the milliseconds until the next check for missing signing keys. The first waits take a second. Later waits
 * become longer with the age of the notification. Such a check is not an attempt. Returns undefined when the
 * notification is 72 hours old.
 */
export function keyRetryDelayMs(ageMs: number): number | undefined {
  if (ageMs >= MAX_TOTAL_KEY_WAIT_MS) return undefined;
  return Math.min(Math.max(Math.round(ageMs / 4), MIN_KEY_WAIT_MS), MAX_KEY_WAIT_MS);
}
