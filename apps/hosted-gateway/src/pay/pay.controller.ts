import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Header,
  HttpStatus,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { DomainError, isUuid } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import type { PayerAddress } from '../sessions/payer-address.js';
import { PageAssetFiles } from './page-assets.js';
import { PayOnPage } from './pay-on-page.js';
import { PayRequest } from './pay.request.js';
import { SameOrigin } from './same-origin.guard.js';
import { payerOf, sendPage } from './send-answer.js';
import { type PageState, ShowPage } from './show-page.js';
import { WatchStates } from './watch-states.js';

/** Whoever knows a session's id, or the code that stands for it, may look at it and pay it. */
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
 * camera opens when it reads a code of ours (D5). A payment app does not come here: it decodes and pays through the API,
 * which is also how the codes of tills are paid; a camera that opens one of those is told so.
 */
@Controller()
export class PayController {
  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PayOnPage) private readonly payOnPage: PayOnPage,
    @Inject(WatchStates) private readonly watchStates: WatchStates,
    @Inject(PageAssetFiles) private readonly assets: PageAssetFiles,
  ) {}

  @Get(['pay', 'c/:code'])
  async page(
    @AtAddress() address: PayerAddress,
    @Query('card') card: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(reply, await this.showPage.model(address, payerOf(request, card)), this.assets.manifest);
  }

  @Get('pay/assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = this.assets.find(file);
    if (!asset) throw new DomainError('resource.not-found');
    await reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type(asset.contentType)
      .send(asset.content);
  }

  @Get(['pay/:sessionId/state', 'c/:code/state'])
  @Header('cache-control', 'no-store')
  state(@AtAddress() address: PayerAddress): Promise<PageState> {
    return this.showPage.state(address);
  }

  /** The same as server-sent events, for as long as somebody watches. Refused with 503 where too many do: then poll. */
  @Get(['pay/:sessionId/events', 'c/:code/events'])
  async events(@AtAddress() address: PayerAddress, @Res() reply: FastifyReply): Promise<void> {
    await sendEventStream(reply, await this.watchStates.open(address));
  }

  @Post(['pay/:sessionId/payments', 'c/:code/payments'])
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true })
  @Header('cache-control', 'no-store')
  async pay(
    @AtAddress() address: PayerAddress,
    @Body() body: PayRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PageState> {
    const { payment, session } = await this.payOnPage.execute(address, body);
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.stateOf(session, address);
  }
}
