import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Responds to a request of the worker. */
type Behaviour = (response: ServerResponse, received: ReceivedRequest) => void;

/** Creates a behaviour that responds with this status. */
export const respondWith =
  (statusCode: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(statusCode, headers).end(body);
  };

/**
 * A merchant's endpoint: a real HTTP server on loopback. Each request uses the next behaviour. The last behaviour is
 * repeated.
 */
export class Receiver {
  readonly received: ReceivedRequest[] = [];
  private behaviours: Behaviour[] = [respondWith(200)];
  private requestWaiters: (() => void)[] = [];

  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = { path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      this.received.push(received);
      const behave = this.behaviours.length > 1 ? this.behaviours.shift()! : this.behaviours[0]!;
      behave(response, received);
      for (const resolve of this.requestWaiters.splice(0)) resolve();
    });
  });

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks?shop=1`;
  }

  setBehaviours(...behaviours: Behaviour[]): void {
    this.behaviours = behaviours;
  }

  /** Resolves when the next request has arrived and its behaviour has run. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => this.requestWaiters.push(resolve));
  }

  /** The paymentStatus of each received body, in order. */
  get paymentStatuses(): string[] {
    return this.received.map(({ body }) => (JSON.parse(body) as { paymentStatus: string }).paymentStatus);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/**
 * Verifies the signature in the headers as a merchant does, at the time of the request. Returns the body. Throws when
 * the signature is invalid.
 */
export function verifyWebhook({ body, headers }: ReceivedRequest, secret: string): unknown {
  const sentAtMs = Number(headers['webhook-timestamp']) * 1000;
  const now = jest.spyOn(Date, 'now').mockReturnValue(sentAtMs);
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    now.mockRestore();
  }
}

/** Returns the signature that the body contains (E3). */
export const getBodySignature = ({ body }: ReceivedRequest): string =>
  (JSON.parse(body) as { signature: string }).signature;
