import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newPaymentReference } from '@svc/kernel';

export interface FakeInvoice {
  readonly reference: string;
  readonly siteId: number;
  readonly body: Record<string, unknown>;
  readonly code: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Idempotency-Keys of the requests that created or returned the invoice. */
  readonly keys: string[];
  state: 'open' | 'reserved' | 'paid' | 'closed';
  endedAt?: Date;
}

/** A repeat of a request that is older than this creates a new invoice (D6). */
const REQUEST_RETENTION_MS = 72 * 3_600_000;

export interface FakeRefund {
  readonly key: string;
  readonly body: Record<string, unknown>;
  readonly svcId: string;
  readonly refundReference: string;
  status: 'pending' | 'succeeded' | 'failed';
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
}

type Payment = Record<string, unknown> & { paymentReference: string; tenderedAmount: number; status: number };

/** A fake of the platform's public API for invoices, payments and refunds of one merchant (D6, M1, M5, M6). */
export class FakePlatform {
  readonly invoices: FakeInvoice[] = [];
  readonly refunds: FakeRefund[] = [];
  readonly payments: Payment[] = [];
  readonly requests: ReceivedRequest[] = [];
  /**
   * `unreachable`: closes connections. `lost-responses`: executes the request, then closes the connection. `silent`:
   * sends no response. Undefined: works normally.
   */
  outage: 'unreachable' | 'lost-responses' | 'silent' | undefined;
  /**
   * Each entry is the response to the next request of this method, and of this amount if given. It is sent after `after`
   * has resolved.
   */
  readonly nextErrors: {
    method: string;
    status: number;
    amount?: number;
    body?: object;
    headers?: Record<string, string>;
    after?: Promise<void>;
  }[] = [];
  /** Status of refunds when they are created. */
  newRefundStatus: FakeRefund['status'] = 'succeeded';
  invoiceLifetimeMs = 3_600_000;
  now = (): Date => new Date();
  private disconnectedPort = 0;
  private heldResponse: Promise<void> | undefined;
  private readonly notifications: { id: string; siteId: number; body: object }[] = [];
  private readonly streams = new Set<{ siteId: number; response: ServerResponse }>();
  private readonly silentResponses = new Set<ServerResponse>();
  private readonly server = createServer((request, response) => void this.handleRequest(request, response));

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get streamCount(): number {
    return this.streams.size;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Refuses connections until `reconnect()`. */
  async disconnect(): Promise<void> {
    this.disconnectedPort = Number(new URL(this.url).port);
    await this.stop();
  }

  async reconnect(): Promise<void> {
    this.server.listen(this.disconnectedPort, '127.0.0.1');
    await once(this.server, 'listening');
  }

  cutStreams(): void {
    for (const { response } of this.streams) response.destroy();
    this.streams.clear();
  }

  /** Executes the next request, but holds its response until the test calls the returned function. */
  holdResponse(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.heldResponse = promise;
    return resolve;
  }

  openInvoices(): FakeInvoice[] {
    return this.invoices.filter(({ state }) => state === 'open' || state === 'reserved');
  }

  /**
   * Creates a payment of the invoice, which succeeds unless `changes` set another status. Streams and polls report it.
   */
  pay(invoice: FakeInvoice, changes: Record<string, unknown> = {}): Payment {
    const payment = {
      invoiceReference: invoice.reference,
      invoiceExternalReference: invoice.body['externalReference'] as string,
      currencyISOCode: 'ZAR',
      invoicedAmount: invoice.body['amount'] as number,
      paymentReference: newPaymentReference(this.now()),
      paymentUTCDate: this.now().toISOString(),
      tipAmount: 0,
      tenderedAmount: invoice.body['amount'] as number,
      siteReference: invoice.body['siteReference'] as string,
      status: 1,
      vouchers: [],
      customer: { firstName: 'Thandi', lastName: 'Nkosi' },
      siteId: invoice.siteId,
      ...changes,
    };
    if (payment.status === 1) invoice.state = 'paid';
    else if (invoice.state === 'reserved') invoice.state = 'open';
    this.payments.push(payment);
    this.sendNotification(invoice.siteId, { ...payment, type: 'payment' });
    return payment;
  }

  /** The bank decides on a refund that was pending. */
  decideRefund(refund: FakeRefund, status: 'succeeded' | 'failed'): void {
    refund.status = status;
    const payment = this.payments.find(({ paymentReference }) => paymentReference === refund.svcId)!;
    this.sendNotification(payment['siteId'] as number, { ...payment, type: 'refund', refund: refundView(refund) });
  }

  /** Sends a message to the event streams of the site. */
  sendNotification(siteId: number, body: object): void {
    const notification = { id: `n-${this.notifications.length + 1}`, siteId, body };
    this.notifications.push(notification);
    for (const stream of this.streams)
      if (stream.siteId === siteId) stream.response.write(formatStreamMessage(notification));
  }

  private async handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const url = new URL(request.url ?? '/', 'http://fake');
    response.setHeader('date', this.now().toUTCString());
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    if (this.outage === 'unreachable') return void request.socket.destroy();
    if (url.pathname === '/health/live' && this.outage !== 'silent') return void send(response, 200, { status: 'ok' });
    const path = url.pathname.replace('/business/api/v1/merchants/1001', '');
    this.requests.push({
      method: request.method ?? '',
      path: `${path}${url.search}`,
      key: String(request.headers['x-api-key']),
      body,
    });
    if (this.outage === 'silent') return void this.silentResponses.add(response);
    const refusal = this.nextErrors.findIndex(
      ({ method, amount }) =>
        method === request.method && (amount === undefined || amount === (body as { amount?: number }).amount),
    );
    if (refusal >= 0) {
      const [{ status, body: problem = {}, headers, after }] = this.nextErrors.splice(refusal, 1) as [
        (typeof this.nextErrors)[number],
      ];
      await after;
      return void send(response, status, problem, headers);
    }
    this.route(path, url.searchParams, request, response, body as Record<string, unknown>);
  }

  private route(
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
    body: Record<string, unknown>,
  ): void {
    const [, site, rest] = /^\/sites\/(\d+)(\/.*)$/.exec(path) ?? [];
    const siteId = Number(site);
    if (path === '/refunds' && request.method === 'GET') {
      const refundsOfPayment = this.refunds.filter(({ svcId }) => svcId === query.get('svcId')).reverse();
      return send(
        response,
        200,
        refundsOfPayment.map((each) => ({ svcId: each.svcId, ...refundView(each) })),
      );
    }
    if (path === '/refunds') return this.refund(query.get('svcId')!, request, response, body);
    if (rest === '/invoices' && request.method === 'POST') {
      const key = request.headers['idempotency-key'];
      const { status, invoice, code } = this.createInvoice(siteId, body, key === undefined ? undefined : String(key));
      if (code === 'payment.in-progress') return sendInProgress(response);
      return this.respond(response, status, invoice ? invoiceView(invoice) : { code });
    }
    if (rest === '/invoices' && request.method === 'DELETE')
      return this.close(siteId, query.get('externalReference')!, response);
    if (rest === '/payments/stream') return this.stream(siteId, request, response);
    const external = query.get('externalReference');
    const [, invoice] = /^\/invoices\/([^/]+)\/payments$/.exec(rest ?? '') ?? [];
    const [, svcId] = /^\/payments\/([^/]+)$/.exec(rest ?? '') ?? [];
    const found = this.payments.filter(
      (each) =>
        each['siteId'] === siteId &&
        (each['invoiceReference'] === invoice ||
          each.paymentReference === svcId ||
          (rest === '/payments' && each['invoiceExternalReference'] === external)),
    );
    send(response, 200, found.reverse());
  }

  /**
   * Creates an invoice, or returns the invoice of a repeated request, by the rules of code-decoder (D6): a request is
   * repeated if it has the same key, or the same body with an externalReference.
   */
  createInvoice(
    siteId: number,
    body: Record<string, unknown>,
    key?: string,
  ): { status: number; invoice?: FakeInvoice; code?: string } {
    // The platform refuses dates of other centuries.
    if (!/^20\d\d-/.test(String(body['createdUTCDate']))) return { status: 400, code: 'request.invalid' };
    const isRecent = (each: FakeInvoice): boolean =>
      each.siteId === siteId && this.now().getTime() - each.createdAt.getTime() < REQUEST_RETENTION_MS;
    const { createdUTCDate: _, ...fields } = body;
    const sameKey =
      key === undefined ? undefined : this.invoices.find((each) => isRecent(each) && each.keys.includes(key));
    if (sameKey) {
      const { createdUTCDate: __, ...earlierFields } = sameKey.body;
      if (JSON.stringify(earlierFields) !== JSON.stringify(fields))
        return { status: 409, code: 'request.idempotency-conflict' };
      return this.isExpired(sameKey) ? { status: 410, code: 'payable.expired' } : { status: 200, invoice: sameKey };
    }
    const reference = body['externalReference'];
    const sameReference = this.invoices.filter(
      (each) => each.siteId === siteId && reference !== undefined && each.body['externalReference'] === reference,
    );
    const sameBody = sameReference.find(
      (each) => isRecent(each) && !this.isExpired(each) && JSON.stringify(each.body) === JSON.stringify(body),
    );
    if (sameBody) {
      if (key !== undefined) sameBody.keys.push(key);
      return { status: 200, invoice: sameBody };
    }
    const current = sameReference.find(({ state }) => state === 'open' || state === 'reserved');
    if (current?.state === 'reserved') return { status: 409, code: 'payment.in-progress' };
    if (current) this.end(current);
    const digits = `${randomInt(1e10)}`.padStart(10, '0');
    const invoice: FakeInvoice = {
      reference: randomUUID(),
      siteId,
      body,
      code: `https://pay.example/c/${digits}${digits}`,
      createdAt: this.now(),
      expiresAt: new Date(this.now().getTime() + this.invoiceLifetimeMs),
      keys: key === undefined ? [] : [key],
      state: 'open',
    };
    this.invoices.push(invoice);
    return { status: 201, invoice };
  }

  isExpired({ state, expiresAt, endedAt }: FakeInvoice): boolean {
    if (state === 'open') return expiresAt <= this.now();
    return state === 'closed' && endedAt !== undefined && endedAt >= expiresAt;
  }

  private end(invoice: FakeInvoice): void {
    invoice.state = 'closed';
    invoice.endedAt = this.now();
  }

  private close(siteId: number, externalReference: string, response: ServerResponse): void {
    const sameReference = this.invoices.filter(
      (each) => each.siteId === siteId && each.body['externalReference'] === externalReference,
    );
    const current = sameReference.find(({ state }) => state === 'open' || state === 'reserved');
    if (sameReference.length === 0) return send(response, 404, { code: 'resource.not-found' });
    if (current?.state === 'reserved') return sendInProgress(response);
    if (current) this.end(current);
    this.respond(response, 204, undefined);
  }

  private refund(
    svcId: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: Record<string, unknown>,
  ): void {
    const key = String(request.headers['idempotency-key']);
    const payment = this.payments.find((each) => each.paymentReference === svcId && each.status === 1);
    const known = this.refunds.find((each) => each.key === key);
    if (!payment)
      return send(response, 404, { code: 'resource.not-found', errors: [{ message: 'There is no such payment.' }] });
    const refundedAmount = this.refunds
      .filter((each) => each.svcId === svcId && each.status !== 'failed')
      .reduce((sum, each) => sum + Number(each.body['amount']), 0);
    if (!known && refundedAmount + Number(body['amount']) > payment.tenderedAmount)
      return send(response, 422, { code: 'refund.amount-exceeded', errors: [{ message: 'More than is left.' }] });
    const refund = known ?? { key, body, svcId, refundReference: randomUUID(), status: this.newRefundStatus };
    if (!known) this.refunds.push(refund);
    this.respond(response, known ? 200 : refund.status === 'pending' ? 202 : 201, { svcId, ...refundView(refund) });
  }

  private stream(siteId: number, request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const after = request.headers['last-event-id'];
    const start = after === undefined ? this.notifications.length : Number(String(after).slice(2));
    response.write(`retry: 10\nid: n-${start}\n\n`);
    for (const notification of this.notifications.slice(start))
      if (notification.siteId === siteId) response.write(formatStreamMessage(notification));
    const stream = { siteId, response };
    this.streams.add(stream);
    response.once('close', () => this.streams.delete(stream));
  }

  private respond(response: ServerResponse, status: number, body: unknown): void {
    if (this.outage === 'lost-responses') return void response.destroy();
    const { heldResponse } = this;
    this.heldResponse = undefined;
    if (heldResponse) return void heldResponse.then(() => send(response, status, body));
    send(response, status, body);
  }
}

function sendInProgress(response: ServerResponse): void {
  response.setHeader('retry-after', '2');
  send(response, 409, { code: 'payment.in-progress' });
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function formatStreamMessage({ id, body }: { id: string; body: object }): string {
  return `id: ${id}\nevent: payment\ndata: ${JSON.stringify(body)}\n\n`;
}

function refundView({ refundReference, status, body }: FakeRefund): object {
  return { refundReference, amount: body['amount'], status, createdUTCDate: '2026-03-01T10:00:00.000Z' };
}

function invoiceView({ reference, body, code, expiresAt, state }: FakeInvoice): object {
  return {
    ...body,
    reference,
    code,
    expiresUTCDate: expiresAt.toISOString(),
    state: state === 'open' || state === 'reserved' ? 'open' : 'closed',
  };
}
