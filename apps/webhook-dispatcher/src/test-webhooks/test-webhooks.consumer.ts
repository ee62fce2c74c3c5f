import { Controller, Inject } from '@nestjs/common';
import { type SendTestWebhook, SendTestWebhookV1, type TestWebhookResult } from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { SendTestWebhooks } from './send-test-webhook.js';

/** Test messages to the webhooks of sites, for the console, which has checked the right of the person. */
@Controller()
export class TestWebhooksConsumer {
  constructor(@Inject(SendTestWebhooks) private readonly tests: SendTestWebhooks) {}

  @MessagePattern(SendTestWebhookV1)
  send(request: SendTestWebhook): Promise<TestWebhookResult> {
    if (!isUuid(request.id)) throw new DomainError('resource.not-found');
    return this.tests.send(request);
  }
}
