import {
  Body,
  Controller,
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
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import { PageAssetFiles } from './page-assets.js';
import { PayOnPage } from './pay-on-page.js';
import { PayRequest } from './pay.request.js';
import { SameOrigin } from './same-origin.guard.js';
import { payerOf, sendEvents, sendPage } from './send-answer.js';
import { type PageState, ShowPage } from './show-page.js';
import { WatchStates } from './watch-states.js';

/** The payer's page and what its script asks. Whoever knows a session's id may look at it and pay it. */
@Controller('pay')
export class PayController {
  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PayOnPage) private readonly payOnPage: PayOnPage,
    @Inject(WatchStates) private readonly watchStates: WatchStates,
    @Inject(PageAssetFiles) private readonly assets: PageAssetFiles,
  ) {}

  @Get()
  async page(
    @Query('sessionId') sessionId: unknown,
    @Query('card') card: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const address = { sessionId: isUuid(sessionId) ? sessionId : '' };
    await sendPage(reply, await this.showPage.model(address, payerOf(request, card)), this.assets.manifest);
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = this.assets.find(file);
    if (!asset) throw new DomainError('resource.not-found');
    await reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type(asset.contentType)
      .send(asset.content);
  }

  @Get(':sessionId/state')
  @Header('cache-control', 'no-store')
  state(@Param('sessionId') sessionId: string): Promise<PageState> {
    return this.showPage.state({ sessionId });
  }

  /** The same as server-sent events, for as long as somebody watches. Refused with 503 where too many do: then poll. */
  @Get(':sessionId/events')
  async events(@Param('sessionId') sessionId: string, @Res() reply: FastifyReply): Promise<void> {
    await sendEvents(reply, await this.watchStates.open({ sessionId }));
  }

  @Post(':sessionId/payments')
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true })
  @Header('cache-control', 'no-store')
  async pay(
    @Param('sessionId') sessionId: string,
    @Body() body: PayRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PageState> {
    const { payment, session } = await this.payOnPage.execute({ sessionId }, body);
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.stateOf(session, { sessionId });
  }
}
