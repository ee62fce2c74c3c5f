/** A merchant's server for webhooks: real HTTP on loopback, signatures verified with the SDK. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostedPaymentNotification, verifyWebhook } from '@svc/sdk';

export interface Delivery {
  readonly webhookId: string;
  readonly headers: IncomingHttpHeaders;
  /** Already verified. */
  readonly payment: HostedPaymentNotification;
  /** From the signature, in whole seconds. */
  readonly sentAt: Date;
  /** True if it was answered with a 2xx. */
  acknowledged: boolean;
  /** Time at which the server answered, or the sender closed the connection. */
  endedAt: Date | undefined;
}

/** The response to a delivery: a status now, a status later, or with `hold` no response until `release` is called. */
export type Answer = number | Promise<number> | 'hold';

export class MerchantEndpoint {
  readonly deliveries: Delivery[] = [];
  /** Errors of deliveries with a wrong signature. This list should stay empty. */
  readonly invalidSignatures: unknown[] = [];
  private held: { readonly delivery: Delivery; readonly response: ServerResponse }[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /**
   * @param answer chooses the answer to each delivery; `earlierCount` is the number of earlier deliveries of the same
   * payment
   */
  static async start(
    secret: string,
    answer: (delivery: Delivery, earlierCount: number) => Answer,
  ): Promise<MerchantEndpoint> {
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
          endpoint.receive(request.headers, Buffer.concat(chunks), secret, response, answer);
        } catch (error) {
          endpoint.invalidSignatures.push(error);
          response.writeHead(400).end();
        }
      });
    });
    return endpoint;
  }

  deliveriesOf(paymentReference: string): Delivery[] {
    return this.deliveries.filter(({ payment }) => payment.paymentReference === paymentReference);
  }

  /** Counts unanswered deliveries whose sender is still connected. */
  get heldCount(): number {
    this.held = this.held.filter(({ response }) => !response.destroyed);
    return this.held.length;
  }

  /** Acknowledges held deliveries late. A sender that has disconnected gets no answer. */
  release(): void {
    if (this.heldCount === 0) return;
    for (const { delivery, response } of this.held.splice(0)) respond(delivery, response, 200);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private receive(
    headers: IncomingHttpHeaders,
    rawBody: Buffer,
    secret: string,
    response: ServerResponse,
    answer: (delivery: Delivery, earlierCount: number) => Answer,
  ): void {
    const payment = verifyWebhook({ headers, rawBody, secret });
    const delivery: Delivery = {
      webhookId: String(headers['webhook-id']),
      headers,
      payment,
      sentAt: new Date(Number(headers['webhook-timestamp']) * 1_000),
      acknowledged: false,
      endedAt: undefined,
    };
    response.once('close', () => (delivery.endedAt ??= new Date()));
    const chosen = answer(delivery, this.deliveriesOf(payment.paymentReference).length);
    this.deliveries.push(delivery);
    if (chosen === 'hold') this.held.push({ delivery, response });
    else if (typeof chosen === 'number') respond(delivery, response, chosen);
    else void chosen.then((status) => respond(delivery, response, status));
  }
}

function respond(delivery: Delivery, response: ServerResponse, status: number): void {
  if (response.destroyed) return;
  delivery.acknowledged = status >= 200 && status < 300;
  delivery.endedAt = new Date();
  response.writeHead(status).end();
}
