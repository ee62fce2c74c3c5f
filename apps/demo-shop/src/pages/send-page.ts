import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DemoShopConfig } from '../config.js';

/** Sends the shop's pages with the policy that goes with them: one script, of the order's page, and nothing from elsewhere. */
@Injectable()
export class SendPage {
  private readonly policy: string;

  constructor(@Inject(DemoShopConfig) config: DemoShopConfig) {
    this.policy = [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      // Checking out posts here and is led on to the payment page; browsers hold both against this list.
      `form-action 'self' ${new URL(config.SVC_PAYMENT_PAGES_URL ?? config.SVC_GATEWAY_URL).origin}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
  }

  async send(reply: FastifyReply, statusCode: number, html: string): Promise<void> {
    await reply
      .status(statusCode)
      .headers({ 'content-security-policy': this.policy, 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(html);
  }
}
