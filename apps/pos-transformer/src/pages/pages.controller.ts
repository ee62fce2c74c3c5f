import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Inject, Param, Query, Res, UseGuards } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { sendEventStream } from '@svc/service/standalone';
import type { FastifyReply } from 'fastify';
import { AccessGuard } from '../access/access.guard.js';
import { parseTill } from '../access/calling-till.js';
import type { Till } from '../baskets/basket.repository.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { BasketDisplays } from './basket-displays.js';

/** The same relative path in src and in dist. */
const FOLDER = join(import.meta.dirname, '../../assets');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Only the transformer's own files, and no inline script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The customer display and the till page. The pages contain no data, so they need no key. They fetch their data with the key
 * behind `#key=` in their address: a browser does not send that part, and the page removes it from the address bar.
 *
 * @internal
 */
@Controller()
export class PagesController {
  private readonly files = new Map(readdirSync(FOLDER).map((file) => [file, readFileSync(join(FOLDER, file))]));

  constructor(
    @Inject(BasketDisplays) private readonly displays: BasketDisplays,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(Platform) private readonly platform: Platform,
  ) {}

  @Get('display/:siteId')
  async display(@Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, 'display.html');
  }

  @Get('till/:siteId')
  async till(@Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, 'till.html');
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, file);
  }

  @Get('display/:siteId/events')
  @UseGuards(AccessGuard)
  async events(
    @Param('siteId') siteId: string,
    @Query('till') till: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendEventStream(reply, this.displays.stream(this.resolveTill(siteId, till)));
  }

  /** The till page's data: the basket, the number of waiting calls, and alerts. */
  @Get('till/:siteId/state')
  @UseGuards(AccessGuard)
  state(@Param('siteId') siteId: string, @Query('till') till: unknown): object {
    const of = this.resolveTill(siteId, till);
    return {
      basket: this.displays.view(of),
      isAway: this.sender.isUnreachable(of.siteId),
      waitingCalls: this.calls.countWaiting(of.siteId),
      alerts: this.alerts.list(of.siteId, of.till),
    };
  }

  private async send(reply: FastifyReply, file: string): Promise<void> {
    const content = this.files.get(file);
    const contentType = CONTENT_TYPES[file.slice(file.lastIndexOf('.') + 1)];
    if (!content || contentType === undefined) throw new DomainError('resource.not-found');
    await reply
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
      .type(contentType)
      .send(content);
  }

  private resolveTill(siteId: string, till: unknown): Till {
    if (!/^\d{1,16}$/.test(siteId) || !this.platform.siteIds.includes(Number(siteId)))
      throw new DomainError('resource.not-found', { message: 'This site is not configured here.' });
    return { siteId: Number(siteId), till: till === '' ? '' : parseTill(till) };
  }
}
