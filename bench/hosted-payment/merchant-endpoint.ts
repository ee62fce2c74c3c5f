/** The merchant's server as far as webhooks are concerned: checks each signature, answers 200, remembers. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@svc/sdk';

/** A payment whose webhook has not come by then is an error of the run. */
const LONGEST_WAIT_MS = 60_000;

export interface Heard {
  readonly paymentReference: string;
  /** Different webhook ids of this payment; one is right. */
  readonly webhookIds: Set<string>;
  /** Of the first one: Date.now(). */
  readonly at: number;
}

export class MerchantEndpoint {
  readonly url: string;
  /** By payment reference. */
  readonly heard = new Map<string, Heard>();
  posts = 0;
  forged = 0;
  private readonly server: Server;
  private readonly waiting = new Map<string, (at: number) => void>();
  private readonly early = new Map<string, number>();

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async start(secret: string): Promise<MerchantEndpoint> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = new MerchantEndpoint(
      server,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    );
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        try {
          const payment = verifyWebhook({ headers: request.headers, rawBody: Buffer.concat(chunks), secret });
          endpoint.receive(payment.sessionId, payment.paymentReference, String(request.headers['webhook-id']));
          response.writeHead(200).end();
        } catch {
          endpoint.forged++;
          response.writeHead(400).end();
        }
      });
    });
    return endpoint;
  }

  /** performance.now() at which the webhook of a session came. */
  heardOf(sessionId: string): Promise<number> {
    const at = this.early.get(sessionId);
    if (at !== undefined) {
      this.early.delete(sessionId);
      return Promise.resolve(at);
    }
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.waiting.delete(sessionId);
        reject(new Error(`No webhook came within ${LONGEST_WAIT_MS / 1_000} s.`));
      }, LONGEST_WAIT_MS);
      this.waiting.set(sessionId, (time) => {
        clearTimeout(late);
        resolve(time);
      });
    });
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private receive(sessionId: string, paymentReference: string, webhookId: string): void {
    this.posts++;
    const known = this.heard.get(paymentReference);
    if (known) return void known.webhookIds.add(webhookId);
    this.heard.set(paymentReference, { paymentReference, webhookIds: new Set([webhookId]), at: Date.now() });
    const resolve = this.waiting.get(sessionId);
    if (!resolve) return void this.early.set(sessionId, performance.now());
    this.waiting.delete(sessionId);
    resolve(performance.now());
  }
}
