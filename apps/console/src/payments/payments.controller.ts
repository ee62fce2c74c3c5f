import { Readable } from 'node:stream';
import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { sitesWithRight } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { ConsoleConfig } from '../config.js';
import { parseAmount } from '../languages/format.js';
import { sendPage } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { type ListedRequest, searchUnpaidRequests } from '../requests/list-requests.query.js';
import { CustomerAccess } from '../viewer/customer-access.js';
import { canAnywhere, canEverywhere, type MerchantViewer } from '../viewer/viewer.js';
import { writeCsv } from './csv.js';
import { type ListChoice, readChoice, toQuery } from './list-filters.js';
import { listPayments } from './list-payments.query.js';
import { PaymentList, type PaymentsPage, renderPaymentsPage } from './payments-page.js';
import { interpretBeginning } from './search-text.js';

const PAGE_SIZE = 50;
/** Unpaid requests beside the payments of a search. The list of the requests has all. */
const MAX_REQUESTS = 20;

type PageQuery = Readonly<Record<string, unknown>>;

/** The list of payments, its search, its CSV, and its changes. */
@PageController(':merchantId/:mode')
export class PaymentsController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(CustomerAccess) private readonly access: CustomerAccess,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(ConsoleConfig) private readonly config: ConsoleConfig,
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
    if (canAnywhere(viewer, 'customers.read'))
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
    if (paymentReferences.length === 0 || !canEverywhere(viewer, 'customers.read')) return;
    for (const reference of paymentReferences) shown.add(reference);
    await this.access.record(viewer, { action: 'customer.searched', after: { paymentReferences } });
  }

  /** Unpaid requests are beside the first page of a search, unless the person chose what only payments have. */
  private async searchRequests(viewer: MerchantViewer, choice: ListChoice): Promise<ListedRequest[]> {
    const { search, siteId, state, method, from, to, after } = choice;
    if (search === '' || search.includes('\0')) return [];
    if ([state, method, from, to, after].some((chosen) => chosen !== undefined)) return [];
    const readable = sitesWithRight(viewer.session.roles, 'sessions.read', viewer.merchant.merchantId);
    const isReadable = siteId === undefined || readable === 'all' || readable.includes(siteId);
    if (!isReadable || readable.length === 0) return [];
    const sites = siteId === undefined ? readable : [siteId];
    const terms = { text: search, orderBeginning: interpretBeginning(search), amountCents: parseAmount(search) };
    return searchUnpaidRequests(this.dataSource, { ...viewer.scope, sites }, terms, MAX_REQUESTS);
  }

  private async readPage(viewer: MerchantViewer, choice: ListChoice): Promise<PaymentsPage> {
    const [found, unpaidRequests] = await Promise.all([
      listPayments(this.dataSource, toQuery(viewer, choice, PAGE_SIZE + 1)),
      this.searchRequests(viewer, choice),
    ]);
    return {
      viewer,
      choice,
      payments: found.slice(0, PAGE_SIZE),
      hasMore: found.length > PAGE_SIZE,
      unpaidRequests,
      codesUrl: this.config.SVC_CODES_URL,
      now: this.clock.now(),
    };
  }
}
