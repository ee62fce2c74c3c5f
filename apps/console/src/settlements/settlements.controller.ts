import { Readable } from 'node:stream';
import { Get, HttpStatus, Inject, Param, Query, Res } from '@nestjs/common';
import {
  ExportSettlementV1,
  ListSettlementMovementsV1,
  ReadSettlementV1,
  type SettlementExport,
  type SettlementPeriod,
} from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { BYTE_ORDER_MARK } from '../languages/format.js';
import { sendPage } from '../layout/page-sender.js';
import { chooseSiteOrAll } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { renderDayPage } from './day-page.js';
import { renderMonthPage } from './month-page.js';
import { isDay, isMonth, monthOf } from './periods.js';

/** payment-processor computes the balance of a long past in parts, and sums up a month of a million movements in 4 s. */
const TIMEOUT_MS = 25_000;
const MAX_CURSOR_LENGTH = 60;

type PageQuery = Readonly<Record<string, unknown>>;

/** The amounts that the platform owes to the merchant, by months and days of the merchant. Only payment-processor computes it. */
@PageController(':merchantId/:mode')
export class SettlementsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** A month; the present one unless the address names another one. */
  @Get('settlements')
  @Allow({ right: 'settlements.read' })
  async showMonth(
    @CallingViewer() viewer: MerchantViewer,
    @Query() { month: chosen, site }: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const today = this.today(viewer);
    const month = isMonth(chosen, today) ? chosen : monthOf(today);
    const request = toPeriod(viewer, month, site);
    const account = await this.commands.request(ReadSettlementV1, request, TIMEOUT_MS);
    await sendPage(
      reply,
      HttpStatus.OK,
      renderMonthPage({ viewer, period: month, siteId: request.siteId, account, today }),
    );
  }

  @Get('settlements/:day')
  @Allow({ right: 'settlements.read' })
  async showDay(
    @CallingViewer() viewer: MerchantViewer,
    @Param('day') day: string,
    @Query() { site, after: cursor }: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const today = this.today(viewer);
    if (!isDay(day, today)) throw new DomainError('resource.not-found');
    const request = toPeriod(viewer, day, site);
    const after = typeof cursor === 'string' && cursor.length <= MAX_CURSOR_LENGTH ? { after: cursor } : {};
    const [account, movements] = await Promise.all([
      this.commands.request(ReadSettlementV1, request, TIMEOUT_MS),
      this.commands.request(ListSettlementMovementsV1, { ...request, ...after }),
    ]);
    const page = { viewer, period: day, siteId: request.siteId, account, today };
    await sendPage(reply, HttpStatus.OK, renderDayPage({ ...page, movements, isFirst: !('after' in after) }));
  }

  /** The movements of a month or a day, in the format of the merchant's API, which escapes formulas. */
  @Get('settlements.csv')
  @Allow({ right: 'exports.read' })
  async export(
    @CallingViewer() viewer: MerchantViewer,
    @Query() { period, site }: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const today = this.today(viewer);
    if (!isDay(period, today) && !isMonth(period, today)) throw new DomainError('resource.not-found');
    const request = toPeriod(viewer, period, site);
    const first = await this.commands.request(ExportSettlementV1, request);
    await reply
      .headers({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${first.fileName}"` })
      .type('text/csv; charset=utf-8')
      .send(Readable.from(this.readLines(request, first)));
  }

  private async *readLines(request: SettlementPeriod, first: SettlementExport): AsyncGenerator<string> {
    yield BYTE_ORDER_MARK;
    for (let part = first; ; part = await this.commands.request(ExportSettlementV1, { ...request, after: part.next })) {
      yield part.lines;
      if (part.next === undefined) return;
    }
  }

  /** The merchant's present day. */
  private today({ clock }: MerchantViewer): string {
    return clock.dayOf(this.clock.now());
  }
}

function toPeriod(viewer: MerchantViewer, period: string, site: unknown): SettlementPeriod {
  const { merchantId, mode } = viewer.scope;
  const siteId = chooseSiteOrAll(viewer, site);
  return { merchantId, mode, period, ...(siteId === undefined ? {} : { siteId }) };
}
