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
import { IsInt, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import { PAY_PAGE_CONTENT_SECURITY_POLICY, renderPayPage } from '../page-views/render-pay-page.js';
import type { PayPageModel } from '../page-views/pay-page-model.js';
import { PageAssetFiles } from './page-assets.js';
import { PayOnPage } from './pay-on-page.js';
import { SameOrigin } from './same-origin.guard.js';
import { type PageState, ShowPage } from './show-page.js';
import { WatchStates } from './watch-states.js';

/** What the page's script sends when the payer presses Pay. */
export class PayRequest {
  /** UUID of this payment, chosen by the page: a repeat is the same payment. */
  @IsUUID()
  reference: string;

  /** Which try of the session this is; the card was encrypted for exactly this one. */
  @IsInt()
  @Min(1)
  @Max(100)
  try: number;

  /** Compact JWE (P8). */
  @IsString()
  @MaxLength(4096)
  encryptedCard: string;
}

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
    const model: PayPageModel = isUuid(sessionId)
      ? await this.showPage.model(sessionId, {
          locale: localeOf(request.headers['accept-language']),
          wantsAnotherCard: card === 'another',
        })
      : { state: 'not-found' };
    await reply
      .status(model.state === 'not-found' ? HttpStatus.NOT_FOUND : HttpStatus.OK)
      .headers({
        'content-security-policy': PAY_PAGE_CONTENT_SECURITY_POLICY,
        'cache-control': 'no-store',
        // The merchant learns where the payer comes from, but not which session: that is in the query.
        'referrer-policy': 'strict-origin',
      })
      .type('text/html; charset=utf-8')
      .send(renderPayPage(model, this.assets.manifest));
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
    return this.showPage.state(sessionId);
  }

  /** The same as server-sent events, for as long as somebody watches. Refused with 503 where too many do: then poll. */
  @Get(':sessionId/events')
  async events(@Param('sessionId') sessionId: string, @Res() reply: FastifyReply): Promise<void> {
    const stream = await this.watchStates.open(sessionId);
    await reply
      // A proxy that gathers what it passes on would keep the news back.
      .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
      .type('text/event-stream')
      .send(stream);
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
    const { payment, session } = await this.payOnPage.execute(sessionId, body);
    reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return this.showPage.stateOf(session);
  }
}

function localeOf(acceptLanguage: string | undefined): string {
  return /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*/.exec(acceptLanguage ?? '')?.[0] ?? 'en-ZA';
}
