import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Inject, Param, Query, Res, UseGuards } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { sendEventStream } from '@svc/service/standalone';
import type { FastifyReply } from 'fastify';
import { AccessGuard } from '../access/access.guard.js';
import { parseTill } from '../access/calling-till.js';
import type { Till } from '../baskets/basket.repository.js';
import { describeClockProblem } from '../clock/clock-problem.js';
import { PlatformClock } from '../clock/platform-clock.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { BasketDisplays } from './basket-displays.js';

/** The relative path is the same from src and from dist. */
const ASSETS_FOLDER = join(import.meta.dirname, '../../assets');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Allows only the transformer's own files, and no inline scripts. */
const CONTENT_SECURITY_POLICY = [
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
 * The customer display and the till page. The pages contain no data, so they are served without a key. Their scripts
 * fetch the data with the API key in the fragment of the page's URL (`#key=…`): a browser does not send the fragment to
 * the server, and the script removes it from the address bar.
 *
 * @internal
 */
@Controller()
export class PagesController {
  private readonly files = new Map(
    readdirSync(ASSETS_FOLDER).map((file) => [file, readFileSync(join(ASSETS_FOLDER, file))]),
  );

  constructor(
    @Inject(BasketDisplays) private readonly displays: BasketDisplays,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(PlatformClock) private readonly clock: PlatformClock,
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

  /** The till page's data: the basket, the number of waiting calls, alerts, and whether the clock is wrong (T14). */
  @Get('till/:siteId/state')
  @UseGuards(AccessGuard)
  state(@Param('siteId') siteId: string, @Query('till') till: unknown): object {
    const resolvedTill = this.resolveTill(siteId, till);
    return {
      basket: this.displays.view(resolvedTill),
      isAway: this.sender.isUnreachable(resolvedTill.siteId),
      waitingCalls: this.calls.countWaiting(resolvedTill.siteId),
      clockProblem: describeClockProblem(this.clock.computerErrorMs),
      alerts: this.alerts.list(resolvedTill.siteId, resolvedTill.till),
    };
  }

  private async send(reply: FastifyReply, file: string): Promise<void> {
    const content = this.files.get(file);
    const contentType = CONTENT_TYPES[file.slice(file.lastIndexOf('.') + 1)];
    if (!content || contentType === undefined) throw new DomainError('resource.not-found');
    await reply
      .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-cache' })
      .type(contentType)
      .send(content);
  }

  private resolveTill(siteId: string, till: unknown): Till {
    if (!/^\d{1,16}$/.test(siteId) || !this.platform.siteIds.includes(Number(siteId)))
      throw new DomainError('resource.not-found', { message: 'This site is not configured here.' });
    return { siteId: Number(siteId), till: till === '' ? '' : parseTill(till) };
  }
}
