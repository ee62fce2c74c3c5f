import { Body, Controller, Headers, HttpCode, Inject, Post } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { ShopCredentials } from '../platform/shop-credentials.js';
import { RecordPayment } from './record-payment.js';

/** Receives the platform's webhooks. Only webhooks mark an order as paid. */
@Controller('webhooks')
export class WebhooksController {
  constructor(
    @Inject(RecordPayment) private readonly recordPayment: RecordPayment,
    @Inject(ShopCredentials) private readonly credentials: ShopCredentials,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * Responds 204 if the webhook was stored, 400 if its verification failed (E4), 404 for an unknown order, and 503 if
   * the platform should retry.
   */
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
      // An invalid secret is an error of the shop's configuration, so the platform should retry. All other errors are
      // errors of the webhook.
      throw new DomainError(cause.code === 'bad-secret' ? 'service.not-ready' : 'request.invalid', {
        message: cause.message,
        cause,
      });
    }
  }
}
