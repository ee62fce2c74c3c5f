/**
 * Delay between the end of a day and its closing. All statements that began on the day have ended by then (their
 * timeout is 15 s).
 */
const DAY_CLOSING_DELAY_MS = 300_000;

/** The UTC day of a time: `2026-03-01`. */
export function formatUTCDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The newest day that may be closed at this time. */
export function newestClosableDay(now: Date): string {
  return previousUTCDay(new Date(now.getTime() - DAY_CLOSING_DELAY_MS));
}

/** The UTC day before the day of this time. */
export function previousUTCDay(time: Date): string {
  return formatUTCDay(new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() - 1)));
}

/** True for a calendar day in the format of {@link formatUTCDay}. */
export function isDay(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && formatUTCDay(time) === text;
}
