import { randomUUID } from 'node:crypto';
import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import { CancelPaymentRequestV1, isEmailAddress, MAX_EMAIL_LENGTH } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Mailer } from '@svc/mail';
import { Commands } from '@svc/messaging';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { ConsoleConfig } from '../config.js';
import { findTexts } from '../languages/languages.js';
import { readField } from '../layout/forms.js';
import { pathOf } from '../layout/layout.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { awaitReadModel } from '../read-model/await-read-model.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { findRequest, type ListedRequest } from './list-requests.query.js';
import { composeRequestMail } from './mails/compose-request-mail.js';
import { RequestMailRepository } from './mails/request-mail.repository.js';
import { SendRequestMail } from './mails/send-request-mail.js';
import { determineRequestState } from './request.js';
import { type MailMessage, renderRequestPage, RequestFacts, type RequestMessage } from './request-page.js';
import { lastDayOf } from './requests-page.js';

/** One payment request (D7): its link and QR code, its state, its e-mails, and its cancellation. */
@PageController(':merchantId/:mode/requests/:requestId')
export class RequestController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(RequestMailRepository) private readonly mails: RequestMailRepository,
    @Inject(SendRequestMail) private readonly sendMail: SendRequestMail,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(ConsoleConfig) private readonly config: ConsoleConfig,
  ) {}

  @Get()
  @Allow({ right: 'sessions.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Param('requestId') requestId: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const request = await this.getRequest(viewer, requestId);
    const message = DONE_MESSAGES.find((known) => known === query['done']);
    await this.send(reply, HttpStatus.OK, viewer, request, message, readMailMessage(viewer, query['mail']));
  }

  /** Sends the state whenever it has changed. */
  @Get('live')
  @Allow({ right: 'sessions.read' })
  async watch(
    @CallingViewer() viewer: MerchantViewer,
    @Param('requestId') requestId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.getRequest(viewer, requestId);
    const render = async () => {
      const request = await this.getRequest(viewer, requestId);
      return renderToString(RequestFacts({ viewer, request, now: this.clock.now() }));
    };
    await sendEventStream(reply, this.live.open(viewer, render));
  }

  /** A repeat changes nothing. */
  @Post('cancel')
  @Allow({ right: 'payment-requests.create' })
  async cancel(
    @CallingViewer() viewer: MerchantViewer,
    @Param('requestId') requestId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const request = await this.getRequest(viewer, requestId);
    const { merchantId, siteId, mode, invoiceReference } = request;
    const person = { personId: viewer.session.personId, requestId: viewer.actor.requestId };
    try {
      await this.commands.request(CancelPaymentRequestV1, { merchantId, siteId, mode, invoiceReference, ...person });
    } catch (error) {
      const message = error instanceof DomainError ? CANCEL_MESSAGES[error.code] : undefined;
      if (message === undefined) throw error;
      return this.send(reply, HttpStatus.CONFLICT, viewer, request, message, undefined);
    }
    const find = () => findRequest(this.dataSource, viewer.scope, invoiceReference);
    await awaitReadModel(async () => (await find())?.endedState !== null);
    await redirect(reply, `${pathOf(viewer)}/requests/${invoiceReference}?done=cancelled`);
  }

  /** The key of the form makes a repeat the same e-mail. */
  @Post('mails')
  @Allow({ right: 'payment-requests.create' })
  async mail(
    @CallingViewer() viewer: MerchantViewer,
    @Param('requestId') requestId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const request = await this.getRequest(viewer, requestId);
    if (!this.mailer.isOn) throw new DomainError('resource.not-found');
    const recipient = readField(form, 'email', MAX_EMAIL_LENGTH);
    const key = readField(form, 'key', 36);
    if (!isEmailAddress(recipient) || !isUuid(key))
      return this.send(reply, HttpStatus.UNPROCESSABLE_ENTITY, viewer, request, 'invalidEmail', undefined);
    if (determineRequestState(request, this.clock.now()) !== 'open')
      return this.send(reply, HttpStatus.CONFLICT, viewer, request, 'ended', undefined);
    const language = (findTexts(readField(form, 'language', 2)) ?? viewer.texts).tag;
    const mail = composeRequestMail(
      viewer,
      { ...request, lastDay: lastDayOf(viewer, request), expiresAt: new Date(request.expiresUTCDate) },
      { mailId: key, recipient, language },
      this.config.SVC_CODES_URL,
    );
    const author = personAuthor(viewer.session.personId, viewer.actor.requestId);
    const result = await this.sendMail.execute(mail, author);
    await redirect(reply, `${pathOf(viewer)}/requests/${request.invoiceReference}?mail=${result}`);
  }

  /** A request of another merchant, site or mode is not found. */
  private async getRequest({ scope }: MerchantViewer, requestId: string): Promise<ListedRequest> {
    const request = isUuid(requestId) ? await findRequest(this.dataSource, scope, requestId) : undefined;
    if (!request) throw new DomainError('resource.not-found');
    return request;
  }

  private async send(
    reply: FastifyReply,
    status: number,
    viewer: MerchantViewer,
    request: ListedRequest,
    message: RequestMessage | undefined,
    mailMessage: MailMessage | undefined,
  ): Promise<void> {
    const mails = await this.mails.list(viewer.scope, request.invoiceReference);
    const html = renderRequestPage({
      ...{ viewer, request, mails, message, mailMessage },
      hasMail: this.mailer.isOn,
      mailKey: randomUUID(),
      codesUrl: this.config.SVC_CODES_URL,
      now: this.clock.now(),
    });
    await sendPage(reply, status, html);
  }
}

const DONE_MESSAGES = ['created', 'cancelled'] as const;

const CANCEL_MESSAGES: Readonly<Partial<Record<string, RequestMessage>>> = {
  'payable.paid': 'paid',
  'payment.in-progress': 'inProgress',
};

/** The result of an e-mail, from the address of the page. */
function readMailMessage({ texts }: MerchantViewer, value: unknown): MailMessage | undefined {
  const known = Object.keys(texts.request.mailMessages) as MailMessage[];
  return known.find((message) => message === value);
}
