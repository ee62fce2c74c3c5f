import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Inject,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { isUuid } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import type { PayerAddress } from '../sessions/payer-address.js';
import { ExtendSession } from './extend-session.js';
import { BuiltParts } from './page-parts.js';
import { PayOnPage } from './pay-on-page.js';
import { payerContextOf } from './payer-context.js';
import { PayRequest } from './pay.request.js';
import { SameOrigin } from './same-origin.guard.js';
import { payerOf, sendPage } from './page/send-answer.js';
import { type PageState, ShowPage } from './page/show-page.js';
import { WatchStates } from './watch-states.js';
import { withDeadline } from './with-deadline.js';

/** Whoever knows a session's id, or the code of a session or invoice, may look at it and pay it. */
const AtAddress = createParamDecorator((_: unknown, context: ExecutionContext): PayerAddress => {
  const { params, query } = context
    .switchToHttp()
    .getRequest<
      FastifyRequest<{ Params: { sessionId?: string; code?: string }; Querystring: { sessionId?: unknown } }>
    >();
  if (params.code !== undefined) return { code: params.code };
  const sessionId = params.sessionId ?? query.sessionId;
  return { sessionId: isUuid(sessionId) ? sessionId : '' };
});

/**
 * The payer's page and what its script asks, at both of its addresses (payer-address.ts). At `/c/<code>` it is what a phone's
 * camera opens when it reads a code of ours (D5), of a session or of a till's invoice; the static code of a till leads to the page
 * of its newest open invoice. A payment app does not come here: it decodes and pays through the API.
 */
@Controller()
export class PayController {
  /** Longest that a payer looks at an empty window; then a page says that it will try again. */
  pageMilliseconds = 8_000;

  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PayOnPage) private readonly payOnPage: PayOnPage,
    @Inject(ExtendSession) private readonly extendSession: ExtendSession,
    @Inject(WatchStates) private readonly watchStates: WatchStates,
  ) {}

  @Get(['pay', 'c/:code'])
  async page(
    @AtAddress() address: PayerAddress,
    @Query('card') card: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const shown = this.showPage.model(address, payerOf(request), card === 'another');
    const model = await withDeadline(shown, this.pageMilliseconds);
    if (!('redirectTo' in model)) return sendPage(reply, model, BuiltParts.get(), request);
    await reply.header('cache-control', 'no-store').redirect(model.redirectTo, HttpStatus.SEE_OTHER);
  }

  @Get(['pay/:sessionId/state', 'c/:code/state'])
  @Header('cache-control', 'no-store')
  state(@AtAddress() address: PayerAddress, @Req() request: FastifyRequest): Promise<PageState> {
    return this.showPage.state(address, payerOf(request));
  }

  /** The same as server-sent events, for as long as somebody watches. Refused with 503 where too many do: then poll. */
  @Get(['pay/:sessionId/events', 'c/:code/events'])
  async events(
    @AtAddress() address: PayerAddress,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendEventStream(reply, await this.watchStates.open(address, payerOf(request)));
  }

  /** More time, where there is any to give; answers what the page then shows. */
  @Post(['pay/:sessionId/more-time', 'c/:code/more-time'])
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true })
  @HttpCode(HttpStatus.OK)
  @Header('cache-control', 'no-store')
  async moreTime(@AtAddress() address: PayerAddress, @Req() request: FastifyRequest): Promise<PageState> {
    await this.extendSession.execute(address);
    return this.showPage.state(address, payerOf(request));
  }

  @Post(['pay/:sessionId/payments', 'c/:code/payments'])
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true })
  @Header('cache-control', 'no-store')
  async pay(
    @AtAddress() address: PayerAddress,
    @Body() { browser, ...body }: PayRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PageState> {
    const payer = payerContextOf(request, browser);
    const { chosen: lang, ownReferences, ...wish } = payerOf(request);
    const { payment, shown } = await this.payOnPage.execute(address, { ...body, payer, lang });
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.stateOf(shown, address, {
      ...wish,
      chosen: lang,
      // A browser that keeps no cookie has just said which payment is its own.
      ownReferences: [body.reference, ...ownReferences],
    });
  }
}
