import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { SettlementStatement } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { computeTotals } from './settlement.js';
import { type SettlementOwner, SettlementRepository, type SettlementSums } from './settlement.repository.js';
import { CSV_HEADER, formatCsvLines } from './settlement-csv.js';
import { parseSettlementDay, type SettlementDay } from './settlement-day.js';

/**
 * Limit of concurrent reads. Reading a large day needs a database connection for seconds. While the limit is reached, a
 * caller gets a 503 and must retry.
 */
const MAX_CONCURRENT_READS = 2;

/** Settlement statements: the balance of a merchant for a day, from the ledger. */
@Injectable()
export class SettlementStatements {
  private reads = 0;

  constructor(
    @Inject(SettlementRepository) private readonly settlements: SettlementRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError `request.invalid` for an invalid or future day; `service.not-ready` while too many other
   *   statements are read
   */
  async find(owner: SettlementOwner, dayText: unknown): Promise<SettlementStatement> {
    const day = parseSettlementDay(dayText, this.clock.now());
    const { sums, closed, ledgerRoot } = await this.readWithLimit(owner, day);
    const { merchantId, siteId, mode } = owner;
    return {
      merchantId,
      ...(siteId === undefined ? {} : { siteId }),
      mode,
      day: day.day,
      closed,
      ...(ledgerRoot === undefined ? {} : { ledgerRoot }),
      totals: computeTotals(sums),
    };
  }

  private async readWithLimit(owner: SettlementOwner, day: SettlementDay): Promise<SettlementSums> {
    if (this.reads >= MAX_CONCURRENT_READS) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    this.reads++;
    try {
      return await this.settlements.read(owner, day);
    } finally {
      this.reads--;
    }
  }

  /** The movements of the statement as CSV, streamed with backpressure. @throws DomainError as {@link find} */
  async export(owner: SettlementOwner, dayText: unknown): Promise<{ fileName: string; csv: Readable }> {
    const day = parseSettlementDay(dayText, this.clock.now());
    const horizon = await this.settlements.snapshotHorizon();
    const pages = this.settlements.readPages(owner, day, horizon);
    async function* lines(): AsyncGenerator<string> {
      yield CSV_HEADER;
      for await (const page of pages) yield formatCsvLines(page);
    }
    const site = owner.siteId === undefined ? '' : `-${owner.siteId}`;
    const fileName = `settlement-${owner.merchantId}${site}-${owner.mode}-${day.day}.csv`;
    return { fileName, csv: Readable.from(lines()) };
  }
}
