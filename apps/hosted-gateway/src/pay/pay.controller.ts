import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Inject,
  Ip,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { DomainError, isOwnCode, parseOwnCode, withDeadline } from '@svc/kernel';
import { readPayerContext, sendEventStream } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HostedGatewayConfig } from '../config.js';
import { buildCallsPath, isScanned, isStaticCode, type PayerAddress } from '../sessions/payer-address.js';
import { BuiltManifest } from './built-manifest.js';
import { ExtendSession } from './extend-session.js';
import { readPayer, sendPage } from './page/send-page.js';
import { type PageState, ShowPage } from './page/show-page.js';
import { PayRequest } from './pay.request.js';
import { PayOnPage } from './pay-on-page.js';
import { PageAddress, PaymentsRateLimitGuard, STATIC_CODE_PAGE } from './payer-requests.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { StateStreams } from './state-streams.js';

/**
 * The payer's page and the calls of its script, at both of its addresses (payer-address.ts). A phone's camera opens
 * `/c/<code>` when it scans the code of a session or of a till's invoice (D5). The static code of a till redirects to
 * its page for the newest open invoice. Payment apps do not use this page: they decode and pay through the API.
 */
@Controller()
export class PayController {
  /** Timeout for building the page. After it the payer gets an error page that reloads. */
  pageTimeoutMs = 8_000;

  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PayOnPage) private readonly payOnPage: PayOnPage,
    @Inject(ExtendSession) private readonly extendSession: ExtendSession,
    @Inject(StateStreams) private readonly stateStreams: StateStreams,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  @Get(['pay', 'c/:code', STATIC_CODE_PAGE])
  async page(
    @PageAddress() address: PayerAddress,
    @Query('card') card: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (isScanned(address) && !isStaticCode(address) && !isOwnCode(address.code))
      return this.changedAddress(`/c/${address.code}`, request, reply);
    const pendingModel = this.showPage.findModel(address, readPayer(request), request.ip, card === 'another');
    // A model that comes later is ignored.
    const model = await withDeadline(pendingModel, this.pageTimeoutMs, () => {
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    });
    if (!('redirectTo' in model)) return sendPage(reply, model, BuiltManifest.get(), request);
    await redirect(reply, model.redirectTo);
  }

  /**
   * All other addresses below `/c` and `/C`. Scanners change the address of a code, for example to capitals. If decoding
   * accepts the changed address, this redirects to the page, whose cookie and calls need the unchanged address.
   */
  @Get(['c/*', 'C/*'])
  async otherAddress(
    @Param('*') path: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.changedAddress(`/c/${path}`, request, reply);
  }

  private async changedAddress(path: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const code = parseOwnCode(`${this.config.SVC_CODES_URL}${path}`, this.config.SVC_CODES_URL);
    if (code === undefined)
      return sendPage(reply, { state: 'not-found', isScanned: true }, BuiltManifest.get(), request);
    const { chosen } = readPayer(request);
    await redirect(reply, `${buildCallsPath({ code })}${chosen === undefined ? '' : `?lang=${chosen}`}`);
  }

  @Get(['pay/:sessionId/state', 'c/:code/state', `${STATIC_CODE_PAGE}/state`])
  @Header('cache-control', 'no-store')
  state(@PageAddress() address: PayerAddress, @Req() request: FastifyRequest): Promise<PageState> {
    return this.showPage.readState(address, readPayer(request));
  }

  /**
   * Streams the state of the page as server-sent events. Responds 429 if too many streams of the client's address are
   * open, and 503 if too many others are open; then the page polls.
   */
  @Get(['pay/:sessionId/events', 'c/:code/events', `${STATIC_CODE_PAGE}/events`])
  async events(
    @PageAddress() address: PayerAddress,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendEventStream(reply, await this.stateStreams.open(address, readPayer(request), request.ip));
  }

  /** Creates a challenge for the next payment. The response is empty if the payment needs none. */
  @Post(['pay/:sessionId/challenges', 'c/:code/challenges', `${STATIC_CODE_PAGE}/challenges`])
  @UseGuards(SameOriginGuard, PaymentsRateLimitGuard)
  @HttpCode(HttpStatus.OK)
  @Header('cache-control', 'no-store')
  async challenge(@PageAddress() address: PayerAddress, @Ip() ip: string): Promise<{ challenge?: string }> {
    const challenge = await this.showPage.createChallenge(address, ip);
    return challenge === undefined ? {} : { challenge };
  }

  /** Extends the session if possible. Returns the new state of the page. */
  @Post(['pay/:sessionId/more-time', 'c/:code/more-time'])
  @UseGuards(SameOriginGuard, PaymentsRateLimitGuard)
  @HttpCode(HttpStatus.OK)
  @Header('cache-control', 'no-store')
  async moreTime(@PageAddress() address: PayerAddress, @Req() request: FastifyRequest): Promise<PageState> {
    await this.extendSession.execute(address);
    return this.showPage.readState(address, readPayer(request));
  }

  @Post(['pay/:sessionId/payments', 'c/:code/payments', `${STATIC_CODE_PAGE}/payments`])
  @UseGuards(SameOriginGuard, PaymentsRateLimitGuard)
  @Header('cache-control', 'no-store')
  async pay(
    @PageAddress() address: PayerAddress,
    @Body() { browser, ...body }: PayRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PageState> {
    const payer = readPayerContext(request, browser);
    const { chosen: lang, ownReferences, ...preference } = readPayer(request);
    const { payment, payable } = await this.payOnPage.execute(address, { ...body, payer, ip: request.ip, lang });
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.buildState(payable, address, {
      ...preference,
      chosen: lang,
      // Includes the payment of this request, so that its payer sees the result even if the browser rejects cookies.
      ownReferences: [body.reference, ...ownReferences],
    });
  }
}

/** The redirect is not stored, because a static code leads to another invoice each time. */
async function redirect(reply: FastifyReply, location: string): Promise<void> {
  await reply.header('cache-control', 'no-store').redirect(location, HttpStatus.SEE_OTHER);
}
