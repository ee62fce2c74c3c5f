import { Body, Controller, Headers, HttpCode, Inject, Post } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { ShopCredentials } from '../platform/shop-credentials.js';
import { RecordPayment } from './record-payment.js';

/** Receives the platform's webhooks, which alone make an order paid. */
@Controller('webhooks')
export class WebhooksController {
  constructor(
    @Inject(RecordPayment) private readonly recordPayment: RecordPayment,
    @Inject(ShopCredentials) private readonly credentials: ShopCredentials,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** 204: stored. 400: verification failed (E4). 404: unknown order. 503: the platform should retry. */
  @Post('svc')
  @HttpCode(204)
  async receive(@Headers() headers: Record<string, string>, @Body() rawBody: unknown): Promise<void> {
    const { webhookSecret } = await this.credentials.get();
    try {
      const body = Buffer.isBuffer(rawBody) ? rawBody : Buffer.alloc(0);
      const payment = verifyWebhook({ headers, rawBody: body, secret: webhookSecret, now: this.clock.now() });
      await this.recordPayment.execute(headers['webhook-id']!, payment);
    } catch (cause) {
      if (!(cause instanceof WebhookVerificationError)) throw cause;
      this.log.warn({ code: cause.code }, 'a webhook was refused');
      // An unusable secret is the shop's own fault, so the platform should retry. Any other webhook is not authentic.
      throw new DomainError(cause.code === 'bad-secret' ? 'service.not-ready' : 'request.invalid', {
        message: cause.message,
        cause,
      });
    }
  }
}
