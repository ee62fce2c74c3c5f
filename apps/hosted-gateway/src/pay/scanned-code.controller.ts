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
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import { PageAssetFiles } from './page-assets.js';
import { PayOnPage } from './pay-on-page.js';
import { PayRequest } from './pay.request.js';
import { SameOrigin } from './same-origin.guard.js';
import { payerOf, sendEvents, sendPage } from './send-answer.js';
import { type PageState, ShowPage } from './show-page.js';
import { WatchStates } from './watch-states.js';

/**
 * What a phone's camera opens when it reads a code of ours (D5): the page of the session, as at its own address
 * (pay.controller.ts), without the ways to the shop. A payment app does not come here: it decodes and pays through the API,
 * which is also how the codes of tills are paid; a camera that opens one of those is told so.
 */
@Controller('c')
export class ScannedCodeController {
  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PayOnPage) private readonly payOnPage: PayOnPage,
    @Inject(WatchStates) private readonly watchStates: WatchStates,
    @Inject(PageAssetFiles) private readonly assets: PageAssetFiles,
  ) {}

  @Get(':code')
  async page(
    @Param('code') code: string,
    @Query('card') card: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(reply, await this.showPage.model({ code }, payerOf(request, card)), this.assets.manifest);
  }

  @Get(':code/state')
  @Header('cache-control', 'no-store')
  state(@Param('code') code: string): Promise<PageState> {
    return this.showPage.state({ code });
  }

  @Get(':code/events')
  async events(@Param('code') code: string, @Res() reply: FastifyReply): Promise<void> {
    await sendEvents(reply, await this.watchStates.open({ code }));
  }

  @Post(':code/payments')
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true })
  @Header('cache-control', 'no-store')
  async pay(
    @Param('code') code: string,
    @Body() body: PayRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PageState> {
    const { payment, session } = await this.payOnPage.execute({ code }, body);
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.stateOf(session, { code });
  }
}
