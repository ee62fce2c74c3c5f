/** Another machine sets the date of a payment. The clock of that machine may be ahead by less than this. */
const MAX_CLOCK_SKEW_MS = 86_400_000;
const DAY_MS = 86_400_000;

/** The range of dates of the payments that a query finds. `from` is inclusive, `until` is exclusive. */
export interface Window {
  readonly from: Date;
  readonly until: Date;
}

/** Returns the last 24 hours (M2). A payment of exactly 24 hours ago is included. */
export function last24Hours(now: Date): Window {
  return windowFrom(new Date(now.getTime() - DAY_MS), now);
}

/**
 * Returns the last three calendar months in UTC (M2). The window begins on the same day and at the same time three
 * months ago. If that month is too short, the window begins on its last day. The beginning is included.
 */
export function lastThreeMonths(now: Date): Window {
  const from = new Date(now);
  from.setUTCDate(1);
  from.setUTCMonth(from.getUTCMonth() - 3);
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 0)).getUTCDate();
  from.setUTCDate(Math.min(now.getUTCDate(), lastDay));
  return windowFrom(from, now);
}

/**
 * Returns the part of a window that is within other times, and not after the date of a cursor, if there is one. The
 * payment of the cursor is in the window.
 */
export function intersect(
  window: Window,
  times: { readonly from: Date | undefined; readonly until: Date | undefined },
  cursorDate: Date | undefined,
): Window {
  const afterCursor = cursorDate && new Date(cursorDate.getTime() + 1);
  const ends = [window.until, times.until, afterCursor].filter((end) => end !== undefined);
  return {
    from: times.from && times.from > window.from ? times.from : window.from,
    until: ends.toSorted((a, b) => a.getTime() - b.getTime())[0]!,
  };
}

function windowFrom(from: Date, now: Date): Window {
  return { from, until: new Date(now.getTime() + MAX_CLOCK_SKEW_MS) };
}
