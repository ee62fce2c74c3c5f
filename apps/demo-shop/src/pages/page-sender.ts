import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DemoShopConfig } from '../config.js';

/** Sends the shop's pages with a content security policy that allows only files of the shop. */
@Injectable()
export class PageSender {
  private readonly policy: string;

  constructor(@Inject(DemoShopConfig) config: DemoShopConfig) {
    this.policy = [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      // The checkout form posts to the shop, which redirects to the payment page. Browsers check the origins of both
      // URLs.
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
