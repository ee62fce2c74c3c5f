import { lastThreeMonths } from './windows.js';

/** Partitions exist for this month and the next two, so that a month begins with its partition. */
const MONTHS_AHEAD = 2;
/** Replicas whose clocks differ by less agree on which partitions a payment may still be written to. */
const SLACK_MS = 86_400_000;

/** Partitions that must exist: all months of the longest window, and the months ahead. */
export function requiredMonths(now: Date): { readonly first: Date; readonly count: number } {
  const { from } = lastThreeMonths(now);
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), 1));
  const months = (now.getUTCFullYear() - first.getUTCFullYear()) * 12 + now.getUTCMonth() - first.getUTCMonth();
  return { first, count: months + 1 + MONTHS_AHEAD };
}

/** Whether all payments of a partition (`payments_2026_03`) are older than the longest window (M2). False for any other name. */
export function isOlderThanWindow(partition: string, now: Date): boolean {
  const month = /^payments_(\d{4})_(\d{2})$/.exec(partition);
  if (!month) return false;
  const end = Date.UTC(Number(month[1]), Number(month[2]), 1);
  return end <= lastThreeMonths(now).from.getTime() - SLACK_MS;
}
