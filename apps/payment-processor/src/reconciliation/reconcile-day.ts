import { Inject, Injectable } from '@nestjs/common';
import type { BookRange } from '@svc/contracts';
import { addDays, Clock } from '@svc/kernel';
import { Relay } from '@svc/messaging';
import { Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import { SettlementLineRepository } from '../settlement-reports/settlement-line.repository.js';
import { attributeToPayments } from './books/attribute-to-payments.js';
import { type BookSource, type Comparison, ReconciliationBooks } from './books/books.js';
import { compareBook } from './books/compare-books.js';
import { type DayReport, DayReportBuilder } from './day-report.js';
import { rangesThatMustBeEmpty, sliceDay, startOfDay } from './day-slices.js';
import { DayTotalsQuery } from './day-totals.query.js';
import type { LeasedRun } from './reconciliation.repository.js';
import { ReversalNotificationsQuery } from './reversal-notifications.query.js';
import { type StatementAccount, StatementRepository } from './statement.repository.js';

/** Time that may pass between the end of a refund and the writing of its event in the same transaction. */
const EVENT_DELAY_MS = 5_000;

/** Throws when another replica has taken over the run. */
type RenewLease = () => Promise<void>;

/** Compares every book of a day, hour by hour. Only the sums and the differences are kept in memory. */
@Injectable()
export class ReconcileDay {
  constructor(
    @Inject(ReconciliationBooks) private readonly books: ReconciliationBooks,
    @Inject(StatementRepository) private readonly statements: StatementRepository,
    @Inject(ReversalNotificationsQuery) private readonly reversals: ReversalNotificationsQuery,
    @Inject(DayTotalsQuery) private readonly totals: DayTotalsQuery,
    @Inject(SettlementLineRepository) private readonly settlementLines: SettlementLineRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Relay) private readonly relay: Relay,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Finds the watermark of a run. Rows that became final after the watermark are open (not compared), because other
   * services may not have received their events yet. When the relay lags, the watermark is before the oldest event that
   * waits for the relay.
   */
  async findWatermark(): Promise<Date> {
    const latest = this.clock.later(-this.config.SVC_RECONCILIATION_GRACE_MS);
    const oldestWaiting = await this.relay.findOldestWaiting();
    const beforeOldest = oldestWaiting && new Date(oldestWaiting.getTime() - EVENT_DELAY_MS);
    return beforeOldest && beforeOldest < latest ? beforeOldest : latest;
  }

  /** Compares the day. Throws when a book or a statement could not be read, and the day has no result. */
  async execute(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<DayReport> {
    await this.storeStatements(run, watermark, renewLease);
    return this.compareAll(run, watermark, renewLease);
  }

  /**
   * Deletes the run's statement lines. Deletes nothing when another replica has taken over the run, because that
   * replica needs the lines.
   */
  async deleteStatements(run: LeasedRun): Promise<void> {
    await this.statements.deleteLines(run);
  }

  private async compareAll(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<DayReport> {
    const comparisons = this.books
      .buildComparisons({
        ...{ runId: run.runId, watermark },
        reversals: (range) => this.reversals.find(range),
        notifiedSites: await this.books.listNotifiedSites(),
      })
      .map(({ name, expected, found }) => ({
        name,
        expected: renewLeaseBeforeReads(expected, renewLease),
        found: renewLeaseBeforeReads(found, renewLease),
      }));
    const report = new DayReportBuilder();
    for (const range of sliceDay(run.day, watermark)) {
      report.addTotals(await this.totals.count(range, watermark, run.merchantId));
      await this.compare(comparisons, range, run, report, true);
    }
    for (const range of rangesThatMustBeEmpty(this.clock.now()))
      await this.compare(comparisons, range, run, report, false);
    return report.finish(watermark >= startOfDay(addDays(run.day)));
  }

  private async compare(
    comparisons: readonly Comparison[],
    range: BookRange,
    { merchantId }: LeasedRun,
    report: DayReportBuilder,
    isOfDay: boolean,
  ): Promise<void> {
    const differences = [];
    for (const comparison of comparisons) {
      const book = await compareBook(comparison, range, merchantId, isOfDay);
      report.addBook(comparison.name, book, isOfDay);
      differences.push(...book.differences);
    }
    report.addDifferences(attributeToPayments(differences));
  }

  /** Only of acquirers that answer with the statement of a day. The lines of settlement reports are stored already. */
  private async storeStatements(run: LeasedRun, watermark: Date, renewLease: RenewLease): Promise<void> {
    await this.statements.deleteLines(run, renewLease);
    await this.settlementLines.match();
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
      const page = await acquirer.readStatement?.(statementDay, account, next);
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

/** Renews the lease before each read, because a comparison with many reads may last longer than the lease. */
function renewLeaseBeforeReads(source: BookSource, renewLease: RenewLease): BookSource {
  return {
    digests: async (...parameters) => {
      await renewLease();
      return source.digests(...parameters);
    },
    lines: async (...parameters) => {
      await renewLease();
      return source.lines(...parameters);
    },
  };
}
