/** When a notification is tried (E5): data, and the arithmetic on it. Pure; randomness and time are given. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Wait before each try, the first included: 12 tries over about three days. Milliseconds. */
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

/** Spread around each wait, so that what failed together does not come back together. */
const JITTER = 0.2;
/** Longest the whole schedule takes, where no endpoint asks for more. */
export const SCHEDULE_MAX_MS = Math.ceil(RETRY_SCHEDULE_MS.reduce((sum, wait) => sum + wait, 0) * (1 + JITTER));
/** An endpoint cannot push a try further away than the longest wait of the schedule. */
const RETRY_AFTER_MAX_MS = 24 * HOUR;

/**
 * Milliseconds to wait after `triesMade` tries of this schedule, ±20 %, or undefined when there are none left.
 * `random` is at least 0 and below 1.
 */
export function waitAfter(triesMade: number, random: number): number | undefined {
  const wait = RETRY_SCHEDULE_MS[triesMade];
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/** A Retry-After header (seconds or an HTTP date) in milliseconds from `now`, bounded; undefined when unreadable. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * SECOND, RETRY_AFTER_MAX_MS);
  // Only the form of RFC 9110: Date.parse alone would also take `-5` or `1 apple` for a date.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now.getTime(), 0), RETRY_AFTER_MAX_MS);
}

const KEY_WAIT_MIN_MS = SECOND;
const KEY_WAIT_MAX_MS = 5 * MINUTE;
const KEY_WAIT_IN_ALL_MS = 72 * HOUR;

/**
 * How long a notification waits for signing keys that have not arrived, by how long it exists: at first a second,
 * then longer. Not a try. Undefined once it has waited as long as the whole schedule takes.
 */
export function waitForKeys(ageMs: number): number | undefined {
  if (ageMs >= KEY_WAIT_IN_ALL_MS) return undefined;
  return Math.min(Math.max(Math.round(ageMs / 4), KEY_WAIT_MIN_MS), KEY_WAIT_MAX_MS);
}
