/** The back office of a merchant: receives the webhook of its site about payments and refunds. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PaymentNotification, verifySiteWebhook } from '@svc/sdk';
import type { MerchantSite, Platform } from '../platform/platform.js';

export class BackOffice {
  readonly notifications: PaymentNotification[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Starts the server and registers it as the webhook of this site. */
  static async start(
    platform: Platform,
    { siteId, merchant, webhookSecret: secret }: MerchantSite,
  ): Promise<BackOffice> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const backOffice = new BackOffice(
      server,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    );
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const notification = verifySiteWebhook({ headers: request.headers, rawBody: Buffer.concat(chunks), secret });
        if (notification) backOffice.notifications.push(notification);
        response.writeHead(200).end();
      });
    });
    const { code, output } = await platform.svc(
      'admin',
      'sites',
      'webhook',
      `${merchant.merchantId}/${siteId}`,
      backOffice.url,
    );
    if (code !== 0) throw new Error(output);
    return backOffice;
  }

  /** The refunds in the webhooks, by their references. */
  refunds(): Map<string, PaymentNotification & { type: 'refund' }> {
    return new Map(
      this.notifications.flatMap((notification) =>
        notification.type === 'refund' ? [[notification.refund.refundReference, notification]] : [],
      ),
    );
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
