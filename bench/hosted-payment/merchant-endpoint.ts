/** The merchant's server for webhooks. It verifies each signature, responds with 200 and records the payment. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@svc/sdk';

/** If a payment has no webhook after this time, the run fails. */
const MAX_WAIT_MS = 60_000;

export interface NotifiedPayment {
  readonly paymentReference: string;
  /** The different webhook ids of this payment. There should be only one. */
  readonly webhookIds: Set<string>;
  /** Date.now() when the first webhook arrived. */
  readonly firstReceivedAt: number;
}

export class MerchantEndpoint {
  readonly url: string;
  /** By payment reference. */
  readonly notifiedPayments = new Map<string, NotifiedPayment>();
  requestCount = 0;
  invalidSignatures = 0;
  private readonly server: Server;
  /** By session id: callers that wait for a webhook. */
  private readonly waiters = new Map<string, (at: number) => void>();
  /** By session id: arrivals for which no caller waits yet. */
  private readonly arrivals = new Map<string, number>();

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
          endpoint.invalidSignatures++;
          response.writeHead(400).end();
        }
      });
    });
    return endpoint;
  }

  /** Waits for the webhook of a session. Returns performance.now() of its arrival. */
  waitForWebhook(sessionId: string): Promise<number> {
    const at = this.arrivals.get(sessionId);
    if (at !== undefined) {
      this.arrivals.delete(sessionId);
      return Promise.resolve(at);
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiters.delete(sessionId);
        reject(new Error(`No webhook arrived within ${MAX_WAIT_MS / 1_000} s.`));
      }, MAX_WAIT_MS);
      this.waiters.set(sessionId, (time) => {
        clearTimeout(timer);
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
    this.requestCount++;
    const notified = this.notifiedPayments.get(paymentReference);
    if (notified) return void notified.webhookIds.add(webhookId);
    this.notifiedPayments.set(paymentReference, {
      paymentReference,
      webhookIds: new Set([webhookId]),
      firstReceivedAt: Date.now(),
    });
    const resolve = this.waiters.get(sessionId);
    if (!resolve) return void this.arrivals.set(sessionId, performance.now());
    this.waiters.delete(sessionId);
    resolve(performance.now());
  }
}
