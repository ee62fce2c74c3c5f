import { Readable } from 'node:stream';
import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { sendPage } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { CustomerAccess } from '../viewer/customer-access.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { writeCsv } from './csv.js';
import { type ListChoice, readChoice, toQuery } from './list-filters.js';
import { listPayments } from './list-payments.query.js';
import { PaymentList, type PaymentsPage, renderPaymentsPage } from './payments-page.js';

const PAGE_SIZE = 50;

type PageQuery = Readonly<Record<string, unknown>>;

/** The list of payments, its search, its CSV, and its changes. */
@PageController(':merchantId/:mode')
export class PaymentsController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(CustomerAccess) private readonly access: CustomerAccess,
  ) {}

  @Get('payments')
  @Allow({ right: 'payments.read' })
  async list(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const page = await this.readPage(viewer, readChoice(query));
    await this.recordNameSearch(page);
    await sendPage(reply, HttpStatus.OK, renderPaymentsPage(page));
  }

  /** All payments of the choice, the newest first, at most 100 000. */
  @Get('payments.csv')
  @Allow({ right: 'exports.read' })
  async export(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const choice = readChoice(query);
    // The file contains the names of customers.
    if (viewer.can('customers.read'))
      await this.access.record(viewer, { action: 'customers.exported', after: { isSearch: choice.search !== '' } });
    const read = (after: ListChoice['after'], limit: number) =>
      listPayments(this.dataSource, toQuery(viewer, { ...choice, after }, limit));
    await reply
      .headers({
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="payments-${viewer.merchant.merchantId}-${viewer.mode}.csv"`,
      })
      .type('text/csv; charset=utf-8')
      .send(Readable.from(writeCsv(viewer, read)));
  }

  /** Sends the list whenever it has changed. */
  @Get('payments/live')
  @Allow({ right: 'payments.read' })
  async watch(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const choice = { ...readChoice(query), after: undefined };
    const shown = new Set<string>();
    const render = async () => {
      const page = await this.readPage(viewer, choice);
      await this.recordNameSearch(page, shown);
      return renderToString(PaymentList(page));
    };
    await sendEventStream(reply, this.live.open(viewer, render, 'payments'));
  }

  /**
   * A search by a name shows that this customer has paid, so the audit log has an entry without the name. A stream has an
   * entry too, because it can be opened without the page.
   *
   * @param shown payments of earlier entries of the same list, which need no further one
   */
  private async recordNameSearch(
    { viewer, choice, payments }: PaymentsPage,
    shown: Set<string> = new Set(),
  ): Promise<void> {
    const name = choice.search.toLowerCase();
    const paymentReferences = payments
      .filter(({ customerName }) => customerName !== '' && customerName.toLowerCase() === name)
      .map(({ paymentReference }) => paymentReference)
      .filter((reference) => !shown.has(reference));
    if (paymentReferences.length === 0 || !viewer.can('customers.read')) return;
    for (const reference of paymentReferences) shown.add(reference);
    await this.access.record(viewer, { action: 'customer.searched', after: { paymentReferences } });
  }

  private async readPage(viewer: MerchantViewer, choice: ListChoice): Promise<PaymentsPage> {
    const found = await listPayments(this.dataSource, toQuery(viewer, choice, PAGE_SIZE + 1));
    return { viewer, choice, payments: found.slice(0, PAGE_SIZE), hasMore: found.length > PAGE_SIZE };
  }
}
