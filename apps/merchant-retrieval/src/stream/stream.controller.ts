import { Controller, Get, Headers, Inject, Res, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { PaymentStreams } from './payment-streams.js';

/**
 * The final payments and refunds of a site as they happen (M6), to the keys that may look its payments up. KeyLimitGuard
 * does not count it: how many streams may be open is bounded instead (M4).
 */
@Controller('business/api/v1/merchants/:merchantId/sites/:siteId/payments')
@UseGuards(MerchantKeyGuard)
export class StreamController {
  constructor(@Inject(PaymentStreams) private readonly streams: PaymentStreams) {}

  @Get('stream')
  async ofSite(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { merchantId, siteId, siteExists, mode } = merchant;
    if (!siteExists) throw new DomainError('resource.not-found');
    // The path has a site, so the guard gives one.
    const stream = await this.streams.open({ merchantId, siteId: siteId!, mode }, merchant, lastEventId);
    await sendEventStream(reply, stream);
  }
}
