/** A day is closed this long after it has ended: statements of the day are over by then (they end after 15 s). */
export const DAY_CLOSES_AFTER_MS = 300_000;

/** The UTC day of a time: `2026-03-01`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The newest day that may be closed at this time. */
export function newestClosableDay(now: Date): string {
  return dayBefore(new Date(now.getTime() - DAY_CLOSES_AFTER_MS));
}

/** The day before the one of this time. */
export function dayBefore(time: Date): string {
  return dayOf(new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() - 1)));
}

/** Whether the text is a day of the calendar, as {@link dayOf} writes it. */
export function isDay(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && dayOf(time) === text;
}
