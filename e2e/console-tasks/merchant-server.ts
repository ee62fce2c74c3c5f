/** The server of a merchant: receives webhooks of all kinds, and refuses those of some orders with a 500. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class MerchantServer {
  private readonly refused = new Set<string>();
  private readonly accepted: string[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<MerchantServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const merchant = new MerchantServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.writeHead(merchant.receive(Buffer.concat(chunks).toString())).end());
    });
    return merchant;
  }

  refuse(order: string): void {
    this.refused.add(order);
  }

  accept(order: string): void {
    this.refused.delete(order);
  }

  /** Accepted webhooks whose body contains the text, such as an order number. */
  count(text: string): number {
    return this.accepted.filter((body) => body.includes(text)).length;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private receive(body: string): number {
    if ([...this.refused].some((order) => body.includes(order))) return 500;
    this.accepted.push(body);
    return 200;
  }
}
