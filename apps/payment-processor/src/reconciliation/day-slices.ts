import type { BookRange } from '@svc/contracts';

export const DAY_MS = 86_400_000;
/**
 * Length of the time range that one statement reads. The range is short, because the statement timeout is 15 s.
 */
const SLICE_MS = 3_600_000;
/** Clocks of other servers may be ahead by at most this time. */
const MAX_CLOCK_SKEW_MS = DAY_MS;
const BEGINNING_OF_TIME = '0001-01-01T00:00:00.000Z';
/** Start of the platform: no payment is older. */
const FIRST_PAYMENT = '2020-01-01T00:00:00.000Z';
const END_OF_TIME = '9999-12-31T00:00:00.000Z';

/** Midnight UTC at the beginning of a day. */
export function startOfDay(day: string): Date {
  return new Date(day);
}

/** The hours of a day before the watermark. */
export function sliceDay(day: string, watermark: Date): BookRange[] {
  const [start, end] = [startOfDay(day).getTime(), Math.min(startOfDay(day).getTime() + DAY_MS, watermark.getTime())];
  const slices: BookRange[] = [];
  for (let from = start; from < end; from += SLICE_MS)
    slices.push({ from: toISO(from), until: toISO(Math.min(from + SLICE_MS, end)) });
  return slices;
}

/**
 * Ranges of time that must be empty in every book. Each reconciliation compares these ranges too, because a row that
 * was inserted manually with a random id or an impossible date would belong to no day.
 */
export function rangesThatMustBeEmpty(now: Date): BookRange[] {
  return [
    { from: BEGINNING_OF_TIME, until: FIRST_PAYMENT },
    { from: toISO(now.getTime() + MAX_CLOCK_SKEW_MS), until: END_OF_TIME },
  ];
}

function toISO(time: number): string {
  return new Date(time).toISOString();
}
