import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { SettlementStatement } from '@svc/contracts';
import { Clock, DomainError, invalidField, isNumericId, type LocalCalendar } from '@svc/kernel';
import { MerchantCalendarQuery } from '../merchants/merchant-calendar.query.js';
import { computeTotals } from './settlement.js';
import { type SettlementOwner, SettlementRepository, type SettlementSums } from './settlement.repository.js';
import { formatCsvHeader, formatCsvLines } from './settlement-csv.js';
import { parseSettlementRange, type RequestedDays, type SettlementRange } from './settlement-range.js';

/**
 * Limit of concurrent reads. Reading many movements needs a database connection for seconds. While the limit is
 * reached, a caller gets a 503 and must retry.
 */
const MAX_CONCURRENT_READS = 2;

/** Settlement statements: the balance of a merchant for days of its time zone, from the ledger. */
@Injectable()
export class SettlementStatements {
  private reads = 0;

  constructor(
    @Inject(SettlementRepository) private readonly settlements: SettlementRepository,
    @Inject(MerchantCalendarQuery) private readonly calendars: MerchantCalendarQuery,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * The owner, restricted to the site that the request names.
   *
   * @throws DomainError `request.invalid` for a malformed id; `credentials.forbidden` for another site than the one of
   *   the key; `resource.not-found` if the merchant has no such site
   */
  async restrictToSite(owner: SettlementOwner, siteId: unknown): Promise<SettlementOwner> {
    if (siteId === undefined) return owner;
    if (!isNumericId(siteId)) throw invalidField('siteId', 'siteId must be a number, given once');
    const site = { ...owner, siteId: Number(siteId) };
    if (owner.siteId !== undefined && owner.siteId !== site.siteId) throw new DomainError('credentials.forbidden');
    if (!(await this.calendars.hasSite(site.merchantId, site.siteId))) throw new DomainError('resource.not-found');
    return site;
  }

  /**
   * @throws DomainError `request.invalid` for invalid or future days; `service.not-ready` while too many other
   *   statements are read
   */
  async find(owner: SettlementOwner, days: RequestedDays): Promise<SettlementStatement> {
    const calendar = await this.calendars.get(owner.merchantId);
    const range = parseSettlementRange(days, calendar, this.clock.now());
    const { sums, seal } = await this.withLimit(() => this.settlements.read(owner, range));
    return buildStatement(owner, range, calendar, { sums, seal });
  }

  /** @throws DomainError `service.not-ready` while too many other statements are read */
  async withLimit<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.reads >= MAX_CONCURRENT_READS) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    this.reads++;
    try {
      return await read();
    } finally {
      this.reads--;
    }
  }

  /**
   * The movements of the statement as CSV, streamed with backpressure. The name of the file contains
   * `provisional` while the statement is not final.
   *
   * @throws DomainError as {@link find}
   */
  async export(
    owner: SettlementOwner,
    days: RequestedDays,
    { hasByteOrderMark }: { readonly hasByteOrderMark: boolean },
  ): Promise<{ fileName: string; csv: Readable }> {
    const calendar = await this.calendars.get(owner.merchantId);
    const range = parseSettlementRange(days, calendar, this.clock.now());
    // Read before the horizon, so that a file with the name of a final statement contains all movements.
    const isFinal = (await this.settlements.findSeal(range.end)) !== undefined;
    const horizon = await this.settlements.snapshotHorizon();
    const pages = this.settlements.readPages(owner, range, horizon);
    async function* lines(): AsyncGenerator<string> {
      yield formatCsvHeader({ hasByteOrderMark });
      for await (const page of pages) yield formatCsvLines(page, calendar);
    }
    return { fileName: buildFileName(owner, range, isFinal), csv: Readable.from(lines()) };
  }
}

export function buildStatement(
  { merchantId, siteId, mode }: SettlementOwner,
  range: SettlementRange,
  calendar: LocalCalendar,
  { sums, seal }: SettlementSums,
): SettlementStatement {
  return {
    merchantId,
    ...(siteId === undefined ? {} : { siteId }),
    mode,
    ...{ from: range.from, to: range.to, timeZone: calendar.zoneAt(new Date(range.end.getTime() - 1)) },
    ...{ fromUTCDate: range.start.toISOString(), untilUTCDate: range.end.toISOString() },
    ...(seal === undefined ? { status: 'provisional' } : { status: 'final', seal }),
    totals: computeTotals(sums),
  };
}

/** The name contains `provisional` unless the statement is final. */
export function buildFileName(
  { merchantId, siteId, mode }: SettlementOwner,
  { from, to }: SettlementRange,
  isFinal: boolean,
) {
  const parts = [
    ...['settlement', merchantId, ...(siteId === undefined ? [] : [siteId]), mode, from],
    ...(to === from ? [] : ['to', to]),
    ...(isFinal ? [] : ['provisional']),
  ];
  return `${parts.join('-')}.csv`;
}
