import { Inject, Injectable } from '@nestjs/common';
import type {
  SettlementAccount,
  SettlementExport,
  SettlementMovementPage,
  SettlementPageRequest,
  SettlementPeriod,
} from '@svc/contracts';
import { Clock, type LocalCalendar } from '@svc/kernel';
import { Acquirers } from '../../acquirers/acquirers.js';
import { MerchantCalendarQuery } from '../../merchants/merchant-calendar.query.js';
import { computeTotals } from '../settlement.js';
import { PAGE_SIZE, type SettlementOwner, SettlementRepository } from '../settlement.repository.js';
import { formatCsvHeader, formatCsvLines } from '../settlement-csv.js';
import type { SettlementRange } from '../settlement-range.js';
import { buildFileName, buildStatement, SettlementStatements } from '../settlement-statements.js';
import { BalanceRepository } from './balance.repository.js';
import { addSums, Balances } from './balances.js';
import { formatCursor, type MovementCursor, parseCursor } from './movement-cursor.js';
import { listDays, parsePeriod } from './period.js';

const MOVEMENTS_PER_PAGE = 100;

/** Older movements without a line of a report are differences of the reconciliation, and no longer on the way. */
const ON_THE_WAY_MS = 14 * 86_400_000;

/** Larger than every transaction id, so that a page contains all movements. */
const NO_HORIZON = '9223372036854775807';

interface Period {
  readonly owner: SettlementOwner;
  readonly range: SettlementRange;
  readonly calendar: LocalCalendar;
}

/** The account of a merchant in a month or on a day, for the people of the merchant. */
@Injectable()
export class ReadPeriods {
  constructor(
    @Inject(SettlementStatements) private readonly statements: SettlementStatements,
    @Inject(SettlementRepository) private readonly settlements: SettlementRepository,
    @Inject(Balances) private readonly balances: Balances,
    @Inject(BalanceRepository) private readonly repository: BalanceRepository,
    @Inject(MerchantCalendarQuery) private readonly calendars: MerchantCalendarQuery,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** One statement sums up the days of the period; their sums together are the statement of the period. */
  async read(request: SettlementPeriod): Promise<SettlementAccount> {
    const { owner, range, calendar } = await this.find(request);
    const days = listDays(range);
    return this.statements.withLimit(async () => {
      // Read before the sums: all movements before it are committed, so the sums contain them.
      const closedUntil = await this.settlements.findClosedUntil();
      const seal = await this.settlements.findSeal(range.end);
      const opening = await this.balances.compute(owner, range.start);
      const starts = days.map((day) => calendar.startOf(day));
      const sums = await this.settlements.sumUpDays(owner, range, starts);
      return {
        statement: buildStatement(owner, range, calendar, { sums, seal }),
        opening: [...opening],
        closing: addSums(opening, sums),
        onTheWay: await this.sumUpOnTheWay(owner, range),
        days: days.map((day, index) => {
          const end = starts[index + 1] ?? range.end;
          const isFinal = closedUntil !== undefined && end <= closedUntil;
          const totals = computeTotals(sums.filter(({ nth }) => nth === index + 1));
          return { day, status: isFinal ? ('final' as const) : ('provisional' as const), totals };
        }),
      };
    });
  }

  /** Movements that are committed after a page was read, with a time before its end, are on no later page. */
  async list(request: SettlementPageRequest): Promise<SettlementMovementPage> {
    const { owner, range } = await this.find(request);
    const cursor = readCursor(request) ?? { horizon: NO_HORIZON, after: undefined };
    const { movements, next } = await this.settlements.readPage(owner, range, {
      ...cursor,
      limit: MOVEMENTS_PER_PAGE,
    });
    return { movements: [...movements], ...(next ? { next: formatCursor(cursor.horizon, next) } : {}) };
  }

  async export(request: SettlementPageRequest): Promise<SettlementExport> {
    const { owner, range, calendar } = await this.find(request);
    // Read before the horizon, so that a file with the name of a final statement contains all movements.
    const isFinal = (await this.settlements.findSeal(range.end)) !== undefined;
    const given = readCursor(request);
    const cursor = given ?? { horizon: await this.settlements.snapshotHorizon(), after: undefined };
    const { movements, next } = await this.settlements.readPage(owner, range, { ...cursor, limit: PAGE_SIZE });
    const header = given ? '' : formatCsvHeader({ hasByteOrderMark: false });
    return {
      fileName: buildFileName(owner, range, isFinal),
      lines: header + formatCsvLines(movements, calendar),
      ...(next ? { next: formatCursor(cursor.horizon, next) } : {}),
    };
  }

  private async find({ merchantId, mode, siteId, period }: SettlementPeriod): Promise<Period> {
    const merchant = { merchantId, mode, siteId: undefined };
    const owner = await this.statements.restrictToSite(merchant, siteId === undefined ? undefined : String(siteId));
    const calendar = await this.calendars.get(merchantId);
    return { owner, calendar, range: parsePeriod(period, calendar, this.clock.now()) };
  }

  private sumUpOnTheWay(owner: SettlementOwner, { start, end }: SettlementRange) {
    const since = new Date(this.clock.now().getTime() - ON_THE_WAY_MS);
    const acquirers = this.acquirers.namesWithSettlementReports;
    return end <= since || acquirers.length === 0
      ? []
      : this.repository.sumUpUnsettled(owner, { start: start < since ? since : start, end }, acquirers);
  }
}

function readCursor({ after }: SettlementPageRequest): MovementCursor | undefined {
  return after === undefined ? undefined : parseCursor(after);
}
