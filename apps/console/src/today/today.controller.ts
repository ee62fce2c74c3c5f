import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { sitesWithRight } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { findDisputesToAnswer } from '../disputes/list-disputes.query.js';
import { sendPage } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { readChoice, toQuery } from '../payments/list-filters.js';
import { listPayments } from '../payments/list-payments.query.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { FindUndelivered } from './find-undelivered.js';
import { sumSales } from './sum-sales.query.js';
import { chooseDay, sumDay } from './today.js';
import { renderTodayPage, TodayContent, type TodayPage } from './today-page.js';

const NEWEST_PAYMENTS = 10;
const HOUR_MS = 3_600_000;

/** The start page of a merchant: the sales of today or of an earlier day, compared with the same weekday a week before. */
@PageController(':merchantId/:mode')
export class TodayController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(FindUndelivered) private readonly findUndelivered: FindUndelivered,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow({ right: 'payments.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Query('day') chosenDay: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(reply, HttpStatus.OK, renderTodayPage(await this.readPage(viewer, chosenDay)));
  }

  /** Sends the sales of today whenever they have changed, also after midnight. */
  @Get('live')
  @Allow({ right: 'payments.read' })
  async watch(@CallingViewer() viewer: MerchantViewer, @Res() reply: FastifyReply): Promise<void> {
    const render = async () => renderToString(TodayContent(await this.readPage(viewer)));
    await sendEventStream(reply, this.live.open(viewer, render, 'payments'));
  }

  private async readPage(viewer: MerchantViewer, chosenDay?: unknown): Promise<TodayPage> {
    const now = this.clock.now();
    const { clock: merchantClock } = viewer;
    const { day, isToday, previous, next, from, until, before: comparison } = chooseDay(merchantClock, now, chosenDay);
    const disputeSites = sitesWithRight(viewer.session.roles, 'disputes.read', viewer.merchant.merchantId);
    const [today, before, newest, disputes, undelivered] = await Promise.all([
      sumSales(this.dataSource, viewer.scope, { from, until }),
      sumSales(this.dataSource, viewer.scope, comparison),
      listPayments(
        this.dataSource,
        toQuery(viewer, readChoice(isToday ? {} : { from: day, to: day }), NEWEST_PAYMENTS),
      ),
      findDisputesToAnswer(this.dataSource, { ...viewer.scope, sites: disputeSites }, now),
      isToday ? this.findUndelivered.execute(viewer, now) : [],
    ]);
    const labels = Array.from({ length: Math.ceil((until.getTime() - from.getTime()) / HOUR_MS) }, (_, hour) =>
      merchantClock.formatTime(new Date(from.getTime() + hour * HOUR_MS).toISOString()).slice(0, 5),
    );
    return {
      viewer,
      day,
      isToday,
      previous,
      next,
      zone: merchantClock.zoneAt(isToday ? now : from),
      today: sumDay(today),
      before: sumDay(before),
      newest,
      disputes,
      undelivered,
      labels,
    };
  }
}
