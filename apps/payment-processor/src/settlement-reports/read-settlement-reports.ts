import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, createCounter } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { loggableMessage } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { StatementReport } from '../acquirers/acquirer-report.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { type SettlementLine, SettlementReportError } from '../acquirers/settlement-line.js';
import { type ReportEffect, ReportRepository, type StoredReport } from '../reports/report.repository.js';
import { type OwnedLine, SettlementLineRepository } from './settlement-line.repository.js';

const POLL_MS = 5_000;
/** Lines of one statement. */
const CHUNK_SIZE = 500;
/** Limit of the download and of its storing together. */
const READ_TIMEOUT_MS = 600_000;
/** Longer than {@link READ_TIMEOUT_MS}, so that two replicas read a report at the same time only after a crash. */
const LEASE_MS = 900_000;
/** Delays between attempts to read a report; then the last one. */
const RETRY_DELAYS_MS: readonly number[] = [60_000, 300_000, 900_000, 3_600_000];
/** A report that could not be read for this time is an incident, and is not read again. */
const GIVE_UP_MS = 31 * 86_400_000;

/** Counts of the lines of a report that were read so far. */
interface Progress {
  lines: number;
  stored: number;
  different: number;
  /** Lines of types that this service does not know, or with a problem. */
  unusable: number;
  /** Lines of accounts that no merchant has. */
  foreign: number;
  /** Cents by account, batch and currency. The payout makes each sum 0. */
  readonly sums: Map<string, number>;
}

/**
 * Reads the settlement reports that acquirers have announced, one at a time. Each line is stored once with its transfer,
 * so a second reading after a crash, or of a report that arrives again, continues where the first one ended.
 */
@Injectable()
export class ReadSettlementReports implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly effects = createCounter('svc.acquirer.reports');
  private readonly failures = createCounter('svc.settlement.reports.failed');
  private readonly unusableLines = createCounter('svc.settlement.lines.unusable');
  private readonly stopping = new AbortController();
  private readonly job: PeriodicJob;

  constructor(
    @Inject(ReportRepository) private readonly reports: ReportRepository,
    @Inject(SettlementLineRepository) private readonly lines: SettlementLineRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('settlement reports', POLL_MS, log, () => this.runStep(this.stopping.signal));
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.job.stop();
  }

  /** Reads the next announced report. False when there is none. `stopping` ends the reading; another replica continues. */
  async runStep(stopping?: AbortSignal): Promise<boolean> {
    const statement = await this.reports.leaseStatement(this.clock.later(LEASE_MS));
    if (!statement) return false;
    const { reportId, report } = statement;
    const { acquirer, accountReference, acquirerReference: name } = report;
    try {
      const result = await this.read(statement, stopping);
      await this.reports.finish(reportId, result);
      this.effects.add(1, { acquirer, kind: 'statement', effect: result.effect });
      const fields = { reportId, acquirer, accountReference, name, effect: result.effect, note: result.note };
      if (result.effect === 'incident') this.log.error(fields, 'a settlement report is not as expected');
      else this.log.info(fields, 'a settlement report was read');
    } catch (error) {
      if (stopping?.aborted !== true)
        await this.postpone(statement, error instanceof Error ? error : new Error(String(error)));
    }
    return true;
  }

  private async read(
    statement: StoredReport<StatementReport>,
    stopping: AbortSignal | undefined,
  ): Promise<ReportEffect> {
    const { report } = statement;
    const acquirer = this.acquirers.get(report.acquirer);
    if (!acquirer.readSettlementReport)
      return { effect: 'incident', note: 'This acquirer announces no settlement reports.' };
    const merchants = new Map<string, number | undefined>();
    const progress: Progress = { lines: 0, stored: 0, different: 0, unusable: 0, foreign: 0, sums: new Map() };
    const signal = AbortSignal.any([...(stopping ? [stopping] : []), AbortSignal.timeout(READ_TIMEOUT_MS)]);
    let chunk: OwnedLine[] = [];
    for await (const line of acquirer.readSettlementReport(report, signal)) {
      signal.throwIfAborted();
      const { accountReference } = line;
      if (!merchants.has(accountReference))
        merchants.set(accountReference, await this.lines.findMerchant({ ...report, accountReference }));
      const merchantId = merchants.get(accountReference);
      count(progress, line);
      if (merchantId === undefined) {
        progress.foreign++;
        continue;
      }
      chunk.push({ ...line, merchantId });
      if (chunk.length < CHUNK_SIZE) continue;
      await this.store(statement, chunk, progress);
      chunk = [];
    }
    await this.store(statement, chunk, progress);
    // A dispute or a refund may have been reported after its line.
    await this.lines.match();
    return toEffect(progress);
  }

  private async store(
    statement: StoredReport<StatementReport>,
    chunk: readonly OwnedLine[],
    progress: Progress,
  ): Promise<void> {
    if (chunk.length === 0) return;
    const { stored, different, isReadElsewhere } = await this.lines.store(statement, chunk);
    // An older report never waits for a newer one, so no two reports wait for each other.
    if (isReadElsewhere)
      throw new SettlementReportError('Another report with the same batch is not read completely yet.');
    progress.stored += stored;
    progress.different += different;
    const unusable = chunk.filter(isUnusable).length;
    progress.unusable += unusable;
    if (unusable > 0 && stored > 0) this.unusableLines.add(unusable, { acquirer: statement.report.acquirer });
  }

  private async postpone(
    { reportId, report, receivedAt, applications }: StoredReport<StatementReport>,
    error: Error,
  ): Promise<void> {
    const { acquirer, accountReference, acquirerReference: name } = report;
    this.failures.add(1, { acquirer });
    this.log.error({ err: error, reportId, acquirer, accountReference, name }, 'a settlement report could not be read');
    const note = loggableMessage(error) || error.name;
    if (this.clock.now().getTime() - receivedAt.getTime() >= GIVE_UP_MS)
      return this.reports.finish(reportId, { effect: 'incident', note });
    const delay = RETRY_DELAYS_MS[applications - 1] ?? RETRY_DELAYS_MS.at(-1)!;
    await this.reports.postpone(reportId, this.clock.later(delay), note);
  }
}

const isUnusable = ({ kind, problem }: SettlementLine): boolean => kind === 'unknown' || problem !== undefined;

function count(progress: Progress, { accountReference, batch, currencyISOCode, netAmount = 0 }: SettlementLine): void {
  progress.lines++;
  const key = `${accountReference} ${batch} ${currencyISOCode}`;
  progress.sums.set(key, (progress.sums.get(key) ?? 0) + netAmount);
}

function toEffect({ lines, stored, different, unusable, foreign, sums }: Progress): ReportEffect {
  const problems = [
    ...(different > 0 ? [`${different} lines differ from the stored lines of the batch`] : []),
    ...([...sums.values()].some((sum) => sum !== 0) ? ['the lines do not add up to the payout'] : []),
    ...(foreign > 0 ? [`${foreign} lines are of accounts that no merchant has`] : []),
    ...(unusable > 0 ? [`${unusable} lines are not usable`] : []),
  ];
  const note = [`${lines} lines, ${stored} new`, ...problems].join('; ');
  return { effect: problems.length > 0 ? 'incident' : stored > 0 ? 'applied' : 'none', note };
}
