import { Inject, Injectable } from '@nestjs/common';
import type { SendTestWebhook, TestNotification, TestWebhookResult } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { listHeaders, signBody } from '../delivery/sign-notification.js';
import { withPublicErrorClass } from '../delivery-log/public-error-class.js';
import { WebhookClient } from '../endpoint/webhook-client.js';
import { SigningSecrets } from '../signing-secrets/signing-secrets.js';
import { findWebhookAddress } from './find-webhook-address.query.js';

/** Minimum interval between two tests of one site. It prevents a person in a hurry from flooding the endpoint. */
export const MIN_TEST_INTERVAL_MS = 5_000;
/** Tests at the same time. None waits, because a person waits for the answer. */
export const MAX_TESTS = 8;
const MAX_SITES = 10_000;

/**
 * Sends a signed test message to the webhook of a site, while a person waits for the answer. It is neither stored nor
 * repeated, and counts for no circuit. Its webhook-id is chosen by the caller, so a repeat of the command is the same
 * message for the receiver.
 */
@Injectable()
export class SendTestWebhooks {
  private running = 0;
  /** The last test of each site on this replica. */
  private readonly lastTests = new Map<number, number>();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SigningSecrets) private readonly secrets: SigningSecrets,
    @Inject(WebhookClient) private readonly client: WebhookClient,
  ) {}

  /** Throws `resource.not-found`, `resource.conflict`, `request.rate-limited` and `service.not-ready`. */
  async send({ owner, id }: SendTestWebhook): Promise<TestWebhookResult> {
    const { merchantId, siteId, mode } = owner;
    const url = await findWebhookAddress(this.dataSource, merchantId, siteId);
    if (url === undefined) throw new DomainError('resource.not-found', { message: 'The site has no webhook address.' });
    const keys = await this.secrets.findKeys({ merchantId, siteId, mode, apiVersion: null });
    if (!keys) throw new DomainError('resource.conflict', { message: 'The site has no webhook secret in this mode.' });
    this.countTest(siteId);
    if (this.running >= MAX_TESTS) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    this.running++;
    const now = this.clock.now();
    const notification: TestNotification = { type: 'test', siteId, mode, sentUTCDate: now.toISOString() };
    const { body, headers } = signBody(id, JSON.stringify(notification), keys.webhookSecrets, now);
    try {
      const answer = await this.client.post({ url, headers, body }, new AbortController().signal);
      const { durationMs, statusCode = null, errorClass = null, hint = null, text: response = null } = answer;
      const result = { url, body, headers: listHeaders(headers), durationMs, statusCode, errorClass, hint, response };
      return withPublicErrorClass(result);
    } finally {
      this.running--;
    }
  }

  private countTest(siteId: number): void {
    const now = this.clock.now().getTime();
    const waitMs = (this.lastTests.get(siteId) ?? -Infinity) + MIN_TEST_INTERVAL_MS - now;
    if (waitMs > 0) throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });
    // The oldest entry leaves first, because an entry is inserted again with each test.
    this.lastTests.delete(siteId);
    if (this.lastTests.size >= MAX_SITES) this.lastTests.delete(this.lastTests.keys().next().value!);
    this.lastTests.set(siteId, now);
  }
}
