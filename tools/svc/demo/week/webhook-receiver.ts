/** The server of the demo's merchant while the week is traded: accepts webhooks, or refuses them all. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class WebhookReceiver {
  readonly url: string;
  private readonly server: Server;
  /** References of the paid payments (svcId) by their order. */
  private readonly references = new Map<string, string>();

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  /** @param status with which every webhook is answered */
  static async start(status: number): Promise<WebhookReceiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new WebhookReceiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { merchantOrderId, paymentReference } = JSON.parse(Buffer.concat(chunks).toString()) as Webhook;
        receiver.references.set(merchantOrderId, paymentReference);
        response.writeHead(status).end();
      });
    });
    return receiver;
  }

  /** Orders for which a webhook has arrived. */
  get orderCount(): number {
    return this.references.size;
  }

  findReference(orderId: string): string | undefined {
    return this.references.get(orderId);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

interface Webhook {
  readonly merchantOrderId: string;
  readonly paymentReference: string;
}
