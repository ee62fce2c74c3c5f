import type { ChargeRecord, RefundRecord } from './records.js';

/** A movement of money on the statement of an account. */
export interface StatementLine {
  /** `reversal` and `refund` return money to the payer. */
  readonly kind: 'charge' | 'reversal' | 'refund';
  /** Idempotency key of the charge, or of the refund. */
  readonly key: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Cents, always positive. */
  readonly amount: number;
  readonly currency: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** One page of a statement. */
export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** Offset of the next page; absent on the last page. */
  readonly next?: number;
}

/** Number of lines of a full page. */
export const STATEMENT_PAGE_LINES = 200;

/** Converts a record to a line of a statement; undefined if it moved no money. */
export function buildStatementLine(record: ChargeRecord | RefundRecord): StatementLine | undefined {
  const { paymentReference, acquirerReference, currency, at } = record;
  const common = { paymentReference, acquirerReference, currency, at };
  if ('refundKey' in record)
    return record.outcome === 'succeeded'
      ? { kind: 'refund', key: record.refundKey, amount: record.amount, ...common }
      : undefined;
  if (record.outcome === 'approved') return { kind: 'charge', key: record.key, amount: record.amount, ...common };
  const { reversedAmount = 0 } = record;
  if (reversedAmount > 0) return { kind: 'reversal', key: record.key, amount: reversedAmount, ...common };
  return undefined;
}

/** The day (UTC) of a time in ISO 8601: `2026-11-22`. */
export function utcDay(at: string): string {
  return at.slice(0, 10);
}

export function statementPage(lines: readonly StatementLine[], after: number): StatementPage {
  const end = after + STATEMENT_PAGE_LINES;
  return { lines: lines.slice(after, end), ...(end < lines.length ? { next: end } : {}) };
}
