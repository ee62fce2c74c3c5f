import type { Mode } from '@svc/contracts';
import { BOOK_NAMES, type BookName } from './books/books.js';
import type { BookComparison, BookDifference } from './books/compare-books.js';
import type { Totals } from './day-totals.query.js';

/**
 * State of a book for one merchant and mode: the number of differences, or `past-retention` if the book was not compared
 * because it has already deleted rows of the day.
 */
type BookState = number | 'past-retention';

/** A row of the report, for a merchant and mode. */
interface MerchantReport extends Totals {
  /** Notifications that have not been delivered yet. */
  readonly undelivered: number;
  readonly books: Readonly<Record<BookName | 'payments', BookState>>;
}

export interface DayReport {
  /** Merchants with differences first, at most {@link MAX_LISTED_MERCHANTS}. */
  readonly merchants: readonly MerchantReport[];
  /** The differences that the report lists: the first {@link MAX_LISTED_DIFFERENCES}. */
  readonly listedDifferences: readonly BookDifference[];
  /** Number of all differences. */
  readonly differences: number;
  /** Number of payments, attempts and refunds without an outcome, and of movements not settled yet, for all merchants. */
  readonly open: number;
  /** False if the day was not over at the watermark, so that a part of it was not compared. */
  readonly isWholeDay: boolean;
  /** Books that have already deleted rows of at least a part of the day, so that this part was not compared. */
  readonly pastRetention: readonly BookName[];
}

/** Limits of the stored lists. The counts and sums include all rows. */
const MAX_LISTED_MERCHANTS = 1_000;
const MAX_LISTED_DIFFERENCES = 100;

/** Counts of a merchant and mode. `found` has the number of differences of each book that differs. */
type Row = { -readonly [Member in keyof Totals]: Totals[Member] } & {
  undelivered: number;
  found: Map<BookName | 'payments', number>;
};

/** Combines the results for the slices of a day into its report. */
export class DayReportBuilder {
  private readonly rows = new Map<string, Row>();
  private readonly listedDifferences: BookDifference[] = [];
  private readonly pastRetention = new Set<BookName>();
  private differences = 0;

  addTotals(all: readonly Totals[]): void {
    for (const { merchantId, mode, ...counts } of all) {
      const row = this.findOrCreateRow(merchantId, mode);
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) row[name] += counts[name];
    }
  }

  /**
   * Adds the comparison of the payments with a book, which is a table of another service.
   * @param isOfDay false if the compared range is outside the day and must therefore be empty
   */
  addBook(name: BookName, { isRetained, digests }: BookComparison, isOfDay: boolean): void {
    if (!isRetained && isOfDay) this.pastRetention.add(name);
    for (const { merchantId, mode, open } of digests)
      if (open > 0) this.findOrCreateRow(merchantId, mode).undelivered += open;
  }

  addDifferences(differences: readonly BookDifference[]): void {
    for (const difference of differences) {
      const { found } = this.findOrCreateRow(difference.merchantId, difference.mode);
      found.set(difference.book, (found.get(difference.book) ?? 0) + 1);
      if (this.listedDifferences.length < MAX_LISTED_DIFFERENCES) this.listedDifferences.push(difference);
    }
    this.differences += differences.length;
  }

  finish(isWholeDay: boolean): DayReport {
    const sum = (all: Iterable<number>): number => [...all].reduce((total, value) => total + value, 0);
    const rows = [...this.rows.values()].toSorted(
      (a, b) =>
        sum(b.found.values()) - sum(a.found.values()) || a.merchantId - b.merchantId || (a.mode < b.mode ? -1 : 1),
    );
    return {
      merchants: rows.slice(0, MAX_LISTED_MERCHANTS).map((row) => this.toMerchantReport(row)),
      listedDifferences: this.listedDifferences,
      differences: this.differences,
      open: sum(
        rows.map(({ pending, unknown, refundsPending, unsettled }) => pending + unknown + refundsPending + unsettled),
      ),
      isWholeDay,
      pastRetention: [...this.pastRetention],
    };
  }

  private toMerchantReport({ found, ...row }: Row): MerchantReport {
    const states = (['payments', ...BOOK_NAMES] as const).map((name): [string, BookState] => [
      name,
      found.get(name) ?? (name !== 'payments' && this.pastRetention.has(name) ? 'past-retention' : 0),
    ]);
    return { ...row, books: Object.fromEntries(states) as MerchantReport['books'] };
  }

  private findOrCreateRow(merchantId: number, mode: Mode): Row {
    const ownerKey = `${merchantId} ${mode}`;
    const existing = this.rows.get(ownerKey);
    if (existing) return existing;
    const noCounts = {
      payments: 0,
      processed: 0,
      failed: 0,
      pending: 0,
      unknown: 0,
      refunds: 0,
      refunded: 0,
      refundsPending: 0,
      unsettled: 0,
    };
    const row = { merchantId, mode, ...noCounts, undelivered: 0, found: new Map<BookName | 'payments', number>() };
    this.rows.set(ownerKey, row);
    return row;
  }
}
