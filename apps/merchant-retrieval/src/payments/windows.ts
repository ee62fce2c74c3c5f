/** The date of a payment is set by another machine, whose clock may be ahead by less than this. */
const MAX_CLOCK_SKEW_MS = 86_400_000;
const DAY_MS = 86_400_000;

/** The dates of the payments that a query finds: `from` is inclusive, `until` is exclusive. */
export interface Window {
  readonly from: Date;
  readonly until: Date;
}

/** Returns the last 24 hours (M2); a payment of exactly 24 hours ago is included. */
export function last24Hours(now: Date): Window {
  return windowFrom(new Date(now.getTime() - DAY_MS), now);
}

/**
 * Returns the last three calendar months in UTC (M2). They begin at the same day and time three months ago, or on the
 * last day of that month if the month is shorter. The beginning is included.
 */
export function lastThreeMonths(now: Date): Window {
  const from = new Date(now);
  from.setUTCDate(1);
  from.setUTCMonth(from.getUTCMonth() - 3);
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 0)).getUTCDate();
  from.setUTCDate(Math.min(now.getUTCDate(), lastDay));
  return windowFrom(from, now);
}

function windowFrom(from: Date, now: Date): Window {
  return { from, until: new Date(now.getTime() + MAX_CLOCK_SKEW_MS) };
}
