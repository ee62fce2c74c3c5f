import { Inject, Injectable } from '@nestjs/common';
import type { BookRange } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Relay } from '@svc/messaging';
import { Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import { attributeToPayments } from './books/blame.js';
import { Books, type Comparison, type Side } from './books/books.js';
import { compareBook } from './books/compare-books.js';
import { type DayReport, DayReportBuilder } from './day-report.js';
import { dayAfter, impossibleRanges, slicesOf, startOf } from './day-slices.js';
import { DayTotalsQuery } from './day-totals.query.js';
import type { LeasedRun } from './reconciliation.repository.js';
import { ReversalNoticesQuery } from './reversal-notices.query.js';
import { type StatementAccount, StatementRepository } from './statement.repository.js';

/** A refund ends some statements before its event is written. */
const EVENT_DELAY_MS = 5_000;

/** Throws when another replica has taken over the run. */
export type RenewLease = () => Promise<void>;

/** Compares every book of a day, hour by hour; only the sums and the differences are in memory. */
@Injectable()
export class ReconcileDay {
  constructor(
    @Inject(Books) private readonly books: Books,
    @Inject(StatementRepository) private readonly statements: StatementRepository,
    @Inject(ReversalNoticesQuery) private readonly reversals: ReversalNoticesQuery,
    @Inject(DayTotalsQuery) private readonly totals: DayTotalsQuery,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Relay) private readonly relay: Relay,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Rows that became final after the watermark are open, because other services may not have received their events. When the relay
   * lags, the watermark is before its oldest event.
   */
  async findWatermark(): Promise<Date> {
    const latest = this.clock.later(-this.config.SVC_RECONCILIATION_GRACE_MS);
    const waiting = await this.relay.findOldestWaiting();
    const before = waiting && new Date(waiting.getTime() - EVENT_DELAY_MS);
    return before && before < latest ? before : latest;
  }

  /** Throws when a book or a statement could not be read: then the day has no result. */
  async execute(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<DayReport> {
    await this.storeStatements(run, watermark, renewLease);
    return this.compareAll(run, watermark, renewLease);
  }

  /** Deletes the run's statement lines; none when another replica has taken over the run, which needs them. */
  async deleteStatements(run: LeasedRun): Promise<void> {
    await this.statements.deleteLines(run);
  }

  private async compareAll(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<DayReport> {
    const comparisons = this.books
      .comparisons({
        ...{ runId: run.runId, watermark },
        reversals: (range) => this.reversals.find(range),
        notifiedSites: await this.books.listNotifiedSites(),
      })
      .map(({ name, expected, found }) => ({
        name,
        expected: withLease(expected, renewLease),
        found: withLease(found, renewLease),
      }));
    const report = new DayReportBuilder();
    for (const range of slicesOf(run.day, watermark)) {
      report.addTotals(await this.totals.count(range, watermark, run.merchantId));
      await this.compare(comparisons, range, run, report, true);
    }
    for (const range of impossibleRanges(this.clock.now())) await this.compare(comparisons, range, run, report, false);
    return report.finish(watermark >= startOf(dayAfter(run.day)));
  }

  private async compare(
    comparisons: readonly Comparison[],
    range: BookRange,
    { merchantId }: LeasedRun,
    report: DayReportBuilder,
    isOfDay: boolean,
  ): Promise<void> {
    const compared = [];
    for (const comparison of comparisons) {
      const book = await compareBook(comparison, range, merchantId, isOfDay);
      report.addBook(comparison.name, book, isOfDay);
      compared.push(...book.differences);
    }
    report.addDifferences(attributeToPayments(compared));
  }

  private async storeStatements(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<void> {
    await this.statements.deleteLines(run, renewLease);
    for (const account of await this.statements.findAccounts(run.day, run.merchantId, renewLease))
      for (const day of account.days) await this.storeStatement(run, watermark, renewLease, account, day);
  }

  private async storeStatement(
    run: LeasedRun,
    watermark: Date,
    renewLease: RenewLease,
    account: StatementAccount,
    statementDay: string,
  ): Promise<void> {
    const acquirer = this.acquirers.get(account.acquirer);
    for (let next: string | undefined; ;) {
      await renewLease();
      const page = await acquirer.readStatement(statementDay, account, next);
      if (!page)
        throw new Error(
          `The statement of ${statementDay} for ${account.accountReference} (${account.mode}) could not be read.`,
        );
      await this.statements.insertLines(run, watermark, account, page.lines);
      next = page.next;
      if (next === undefined) return;
    }
  }
}

/** Renews the lease before each step: a comparison of many steps may take longer than the lease. */
function withLease(side: Side, renewLease: RenewLease): Side {
  return {
    digests: async (...parameters) => {
      await renewLease();
      return side.digests(...parameters);
    },
    lines: async (...parameters) => {
      await renewLease();
      return side.lines(...parameters);
    },
  };
}
