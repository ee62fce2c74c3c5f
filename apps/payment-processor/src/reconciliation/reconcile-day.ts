import { Inject, Injectable } from '@nestjs/common';
import type { BookRange } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Relay } from '@svc/messaging';
import { Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import { attributeToPayments } from './blame.js';
import { Books, type Comparison, type Side } from './books.js';
import { compareBook } from './compare-books.js';
import { dayAfter, impossibleRanges, slicesOf, startOf } from './day-slices.js';
import { type DayReport, DayReportBuilder } from './day-report.js';
import { DayTotalsQuery } from './day-totals.query.js';
import type { LeasedRun } from './reconciliation.repository.js';
import { ReversalNoticesQuery } from './reversal-notices.query.js';
import { type StatementAccount, StatementRepository } from './statement.repository.js';

/** A refund has ended some statements before its event says so. */
const BEFORE_EVENT_MS = 5_000;

/** Throws where the run has been taken over by another replica. */
export type RenewLease = () => Promise<void>;

/** Compares every book of a day, hour by hour; nothing is held in memory but the sums and the differences. */
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
   * What became final later than this is open: its event may be on its way. Where the relay is behind, that is as late as its
   * oldest event.
   */
  async findWatermark(): Promise<Date> {
    const latest = this.clock.later(-this.config.SVC_RECONCILIATION_GRACE_MS);
    const waiting = await this.relay.findOldestWaiting();
    const before = waiting && new Date(waiting.getTime() - BEFORE_EVENT_MS);
    return before && before < latest ? before : latest;
  }

  /** Throws where a book or a statement could not be read: then nothing is said about the day. */
  async execute(run: LeasedRun, watermark: Date, keepLease: RenewLease): Promise<DayReport> {
    await this.storeStatements(run, watermark, keepLease);
    return this.compareAll(run, watermark, keepLease);
  }

  /** What the run has kept of statements. Nothing where another replica has taken it over, which needs them. */
  async deleteStatements(run: LeasedRun): Promise<void> {
    await this.statements.deleteLines(run);
  }

  private async compareAll(run: LeasedRun, watermark: Date, keepLease: RenewLease): Promise<DayReport> {
    const comparisons = this.books
      .comparisons({
        ...{ runId: run.runId, watermark },
        reversals: (range) => this.reversals.find(range),
        notifiedSites: await this.books.listNotifiedSites(),
      })
      .map(({ name, expected, found }) => ({
        name,
        expected: underLease(expected, keepLease),
        found: underLease(found, keepLease),
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

  private async storeStatements(run: LeasedRun, watermark: Date, keepLease: RenewLease): Promise<void> {
    await this.statements.deleteLines(run, keepLease);
    for (const account of await this.statements.findAccounts(run.day, run.merchantId, keepLease))
      for (const day of account.days) await this.storeStatement(run, watermark, keepLease, account, day);
  }

  private async storeStatement(
    run: LeasedRun,
    watermark: Date,
    keepLease: RenewLease,
    account: StatementAccount,
    statementDay: string,
  ): Promise<void> {
    const acquirer = this.acquirers.get(account.acquirer);
    for (let next: string | undefined; ;) {
      await keepLease();
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

/** Each step is short; a comparison of many steps may take longer than the lease. */
function underLease(side: Side, keepLease: RenewLease): Side {
  return {
    digests: async (...given) => {
      await keepLease();
      return side.digests(...given);
    },
    lines: async (...given) => {
      await keepLease();
      return side.lines(...given);
    },
  };
}
