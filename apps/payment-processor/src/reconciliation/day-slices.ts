import type { BookRange } from '@svc/contracts';
import { dayOf } from '../ledger/day.js';

export const DAY_MS = 86_400_000;
/** One statement reads at most this much of a day: its timeout is 15 s, and it delays no event for longer. */
const SLICE_MS = 3_600_000;
/** Limit for clocks that are ahead. */
const MAX_CLOCK_SKEW_MS = DAY_MS;
const BEGINNING = '0001-01-01T00:00:00.000Z';
/** No payment is older. */
const FIRST_PAYMENT = '2020-01-01T00:00:00.000Z';
const END = '9999-12-31T00:00:00.000Z';

/** The day this number of days later, or earlier if negative. */
export function dayAfter(day: string, days = 1): string {
  return dayOf(new Date(startOf(day).getTime() + days * DAY_MS));
}

export function startOf(day: string): Date {
  return new Date(day); // ISO 8601: a date alone is UTC
}

/** The hours of a day before the watermark. */
export function slicesOf(day: string, watermark: Date): BookRange[] {
  const [start, end] = [startOf(day).getTime(), Math.min(startOf(day).getTime() + DAY_MS, watermark.getTime())];
  const slices: BookRange[] = [];
  for (let from = start; from < end; from += SLICE_MS)
    slices.push({ from: isoOf(from), until: isoOf(Math.min(from + SLICE_MS, end)) });
  return slices;
}

/**
 * Ranges that must be empty in every book, compared in each reconciliation: a row inserted by hand with a random id or an
 * impossible date would belong to no day.
 */
export function impossibleRanges(now: Date): BookRange[] {
  return [
    { from: BEGINNING, until: FIRST_PAYMENT },
    { from: isoOf(now.getTime() + MAX_CLOCK_SKEW_MS), until: END },
  ];
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
