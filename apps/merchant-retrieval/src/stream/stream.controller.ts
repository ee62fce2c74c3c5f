import { Controller, Get, Headers, Inject, Res, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { PaymentStreams } from './payment-streams.js';

/**
 * Streams final payments, refunds and disputes of a site (M6) to callers whose key may read the payments of the site. The number
 * of open streams is limited. The call rate is not limited (M4).
 *
 * @group Payments
 */
@Controller('business/api/v1/merchants/:merchantId/sites/:siteId/payments')
@UseGuards(MerchantKeyGuard)
export class StreamController {
  constructor(@Inject(PaymentStreams) private readonly streams: PaymentStreams) {}

  /**
   * Streams final payments, refunds and disputes of a site as server-sent events (M6). `event` is the type, `id` is opaque, and
   * `data` is the same body that the site's webhook receives.
   *
   * @produces text/event-stream Events whose `data` is a `PaymentNotification`.
   * @throws request.invalid The `Last-Event-ID` is malformed.
   * @throws resource.not-found The merchant has no such site.
   * @throws event-id.expired
   * @throws request.rate-limited Too many streams of this key are open.
   */
  @Get('stream')
  async ofSite(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { merchantId, siteId, siteExists, mode } = merchant;
    if (!siteExists) throw new DomainError('resource.not-found');
    // The path contains a site, so MerchantKeyGuard has set siteId.
    const stream = await this.streams.open({ merchantId, siteId: siteId!, mode }, merchant, lastEventId);
    await sendEventStream(reply, stream);
  }
}
