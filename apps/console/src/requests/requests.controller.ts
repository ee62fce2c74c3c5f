import { Body, Get, HttpStatus, Inject, Post, Query, Res } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import { CreatePaymentRequestV1, MIN_REQUEST_LIFETIME_MS } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Mailer } from '@svc/mail';
import { Commands } from '@svc/messaging';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { ConsoleConfig } from '../config.js';
import { CURRENCY } from '../languages/format.js';
import { pathOf } from '../layout/layout.js';
import { parsePosition } from '../layout/page-position.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { awaitReadModel } from '../read-model/await-read-model.js';
import { canAnywhere, type MerchantViewer } from '../viewer/viewer.js';
import { findRequest, listRequests, type RequestPosition } from './list-requests.query.js';
import { composeRequestMail } from './mails/compose-request-mail.js';
import type { MailResult } from './mails/request-mail.repository.js';
import { SendRequestMail } from './mails/send-request-mail.js';
import { type NewRequestPage, renderNewRequestPage } from './new-request-page.js';
import { checkForm, listSites, newFormValues, type NewRequest, readFormValues } from './request-form.js';
import { renderRequestsPage, RequestList, type RequestsPage } from './requests-page.js';

const PAGE_SIZE = 50;

type PageQuery = Readonly<Record<string, unknown>>;

/** Payment requests (D7): the list and its changes, and new requests. */
@PageController(':merchantId/:mode/requests')
export class RequestsController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(SendRequestMail) private readonly sendMail: SendRequestMail,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(ConsoleConfig) private readonly config: ConsoleConfig,
  ) {}

  @Get()
  @Allow({ right: 'sessions.read' })
  async list(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const page = await this.readPage(viewer, readPosition(query['after']));
    await sendPage(reply, HttpStatus.OK, renderRequestsPage(page));
  }

  /** Sends the list whenever it has changed. */
  @Get('live')
  @Allow({ right: 'sessions.read' })
  async watch(@CallingViewer() viewer: MerchantViewer, @Res() reply: FastifyReply): Promise<void> {
    const render = async () => renderToString(RequestList(await this.readPage(viewer, undefined)));
    await sendEventStream(reply, this.live.open(viewer, render));
  }

  @Get('new')
  @Allow({ right: 'payment-requests.create' })
  async showForm(@CallingViewer() viewer: MerchantViewer, @Res() reply: FastifyReply): Promise<void> {
    await this.sendForm(reply, HttpStatus.OK, viewer, newFormValues(viewer, listSites(viewer)), undefined);
  }

  /** The key of the form makes a repeat, for example a double click, the same request and the same e-mail. */
  @Post()
  @Allow({ right: 'payment-requests.create' })
  async create(
    @CallingViewer() viewer: MerchantViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const values = readFormValues(form, viewer);
    const now = this.clock.now();
    const checked = checkForm(values, viewer, now);
    if ('problem' in checked)
      return this.sendForm(reply, HttpStatus.UNPROCESSABLE_ENTITY, viewer, values, checked.problem);
    const { request } = checked;
    if (request.expiresAt.getTime() - now.getTime() < MIN_REQUEST_LIFETIME_MS)
      return this.sendForm(reply, HttpStatus.UNPROCESSABLE_ENTITY, viewer, values, 'tooSoon');
    const { merchant, mode, session, actor, scope } = viewer;
    const owner = { merchantId: merchant.merchantId, siteId: request.siteId, mode };
    try {
      const { invoiceReference, code } = await this.commands.request(CreatePaymentRequestV1, {
        ...owner,
        amount: request.amount,
        description: request.description,
        ...(request.externalReference === undefined ? {} : { externalReference: request.externalReference }),
        expiresUTCDate: request.expiresAt.toISOString(),
        idempotencyKey: request.key,
        personId: session.personId,
        requestId: actor.requestId,
      });
      const mail = await this.sendFirstMail(viewer, request, { invoiceReference, code });
      const find = () => findRequest(this.dataSource, scope, invoiceReference);
      const isRead = await awaitReadModel(async () => (await find()) !== undefined);
      const path = `${pathOf(viewer)}/requests`;
      const mailQuery = mail === undefined ? '' : `&mail=${mail}`;
      await redirect(reply, isRead ? `${path}/${invoiceReference}?done=created${mailQuery}` : path);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const problem = PROBLEMS[error.code];
      if (problem === undefined) throw error;
      await this.sendForm(reply, error.entry.httpStatus, viewer, values, problem);
    }
  }

  /** @returns undefined if the person wants no mail */
  private async sendFirstMail(
    viewer: MerchantViewer,
    { key, email, language, externalReference = '', ...request }: NewRequest,
    created: { readonly invoiceReference: string; readonly code: string },
  ): Promise<MailResult | undefined> {
    if (email === undefined || !this.mailer.isOn) return undefined;
    const mail = composeRequestMail(
      viewer,
      { ...request, ...created, currency: CURRENCY, orderReference: externalReference },
      { mailId: key, recipient: email, language },
      this.config.SVC_CODES_URL,
    );
    return this.sendMail.execute(mail, personAuthor(viewer.session.personId, viewer.actor.requestId));
  }

  private async sendForm(
    reply: FastifyReply,
    status: number,
    viewer: MerchantViewer,
    values: NewRequestPage['values'],
    problem: NewRequestPage['problem'],
  ): Promise<void> {
    const today = viewer.clock.dayOf(this.clock.now());
    const html = renderNewRequestPage({ viewer, values, problem, today, hasMail: this.mailer.isOn });
    await sendPage(reply, status, html);
  }

  private async readPage(viewer: MerchantViewer, after: RequestPosition | undefined): Promise<RequestsPage> {
    const found = await listRequests(this.dataSource, viewer.scope, after, PAGE_SIZE + 1);
    return {
      viewer,
      requests: found.slice(0, PAGE_SIZE),
      hasMore: found.length > PAGE_SIZE,
      after,
      codesUrl: this.config.SVC_CODES_URL,
      mayCreate: canAnywhere(viewer, 'payment-requests.create'),
      now: this.clock.now(),
    };
  }
}

/** Errors of code-decoder about which the person can do something. */
const PROBLEMS: Readonly<Partial<Record<string, NewRequestPage['problem']>>> = {
  'resource.conflict': 'conflict',
  'request.idempotency-conflict': 'repeated',
  // The expired or open invoice with this order number is being paid.
  'payment.in-progress': 'conflict',
  'payable.paid': 'conflict',
};

function readPosition(text: unknown): RequestPosition | undefined {
  const { time, id } = parsePosition(text) ?? {};
  return time && isUuid(id) ? { createdUTCDate: time, invoiceReference: id } : undefined;
}
