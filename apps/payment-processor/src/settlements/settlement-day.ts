import { invalidField } from '@svc/kernel';
import { isDay } from '../ledger/day.js';

/** A day in UTC, with its beginning and end. */
export interface SettlementDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly from: Date;
  /** Midnight at the end of the day, exclusive. */
  readonly until: Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** @throws DomainError `request.invalid` for an invalid or future day */
export function parseSettlementDay(text: unknown, now: Date): SettlementDay {
  if (!isDay(text)) throw invalidField('day', 'day must be a date in UTC, as in 2026-11-20');
  // JavaScript parses a date without a time as midnight in UTC.
  const from = new Date(text);
  if (from > now) throw invalidField('day', 'day must be a day that has begun, in UTC');
  return { day: text, from, until: new Date(from.getTime() + DAY_MS) };
}
