import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Behaviour = (response: ServerResponse, received: ReceivedRequest) => void;

export const respondWith =
  (statusCode: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(statusCode, headers).end(body);
  };

/** A merchant's endpoint: real HTTP on loopback. Uses one behaviour for each request, and repeats the last one. */
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

  /** Resolves at the next request, after its behaviour has run. */
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

/** Verifies a request like a merchant, at the time of the request. */
export function verifyWebhook({ body, headers }: ReceivedRequest, secret: string): unknown {
  const at = Number(headers['webhook-timestamp']) * 1000;
  const now = jest.spyOn(Date, 'now').mockReturnValue(at);
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    now.mockRestore();
  }
}

/** The signature inside the body (E3). */
export const getBodySignature = ({ body }: ReceivedRequest): string => (JSON.parse(body) as { signature: string }).signature;
