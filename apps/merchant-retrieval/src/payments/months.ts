import { lastThreeMonths } from './windows.js';

/** Partitions are created for the next two months, so that each partition exists before its month begins. */
const MONTHS_AHEAD = 2;
/** A partition is dropped this long after its payments are too old, because another replica’s clock may be behind. */
const MAX_CLOCK_SKEW_MS = 86_400_000;

/**
 * Returns the months whose partitions must exist: the months in which queries find payments, the current month, and the
 * months ahead.
 */
export function requiredMonths(now: Date): { readonly first: Date; readonly count: number } {
  const { from } = lastThreeMonths(now);
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), 1));
  const months = (now.getUTCFullYear() - first.getUTCFullYear()) * 12 + now.getUTCMonth() - first.getUTCMonth();
  return { first, count: months + 1 + MONTHS_AHEAD };
}

/**
 * Whether all payments of a partition (`payments_2026_03`) are older than three months, so that no query finds them
 * (M2). Returns false for a name that does not have this format.
 */
export function isOlderThanWindow(partition: string, now: Date): boolean {
  const month = /^payments_(\d{4})_(\d{2})$/.exec(partition);
  if (!month) return false;
  const end = Date.UTC(Number(month[1]), Number(month[2]), 1);
  return end <= lastThreeMonths(now).from.getTime() - MAX_CLOCK_SKEW_MS;
}
