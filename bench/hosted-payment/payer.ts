/**
 * Makes hosted payments over real HTTP: the calls of the merchant's server, those of the payment page, and the wait for
 * the webhook.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { buildPayRequest, PAGE_HEADERS, readBeginning, SCRIPT_HEADERS } from '../payment-page/page-request.ts';
import type { Merchant } from '../platforms/system.ts';
import type { MerchantEndpoint } from './merchant-endpoint.ts';

const CARD = {
  cvv: '123',
  holderName: 'Thandi Nkosi',
  expiryMonth: 12,
  expiryYear: 2035,
};
/** Each payer has a card of its own, as in reality: attempts with one card wait for each other. */
function newCardNumber(): string {
  const digits = `51${String(randomInt(10 ** 13)).padStart(13, '0')}`;
  const sum = [...digits].reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const CONNECTIONS = 512;

/** Time at which each stage of a payment ended, as performance.now() in milliseconds. */
export interface PaymentTimings {
  readonly sessionId: string;
  /** The time at which the payment was due to start. */
  readonly dueAt: number;
  readonly session: number;
  readonly page: number;
  readonly encrypted: number;
  readonly paid: number;
  readonly webhook: number;
}

export class Payers {
  private readonly endpoint: MerchantEndpoint;
  private readonly pool: Pool;
  private readonly merchantHeaders: Record<string, string>;
  private readonly scriptHeaders: Record<string, string>;

  constructor({ gatewayUrl, merchantId, siteId, apiKey }: Merchant, endpoint: MerchantEndpoint) {
    this.endpoint = endpoint;
    this.pool = new Pool(gatewayUrl, { connections: CONNECTIONS, pipelining: 1 });
    this.scriptHeaders = { ...SCRIPT_HEADERS, origin: new URL(gatewayUrl).origin };
    this.merchantHeaders = {
      merchantid: merchantId,
      merchantsiteid: siteId,
      'x-api-key': apiKey,
      'content-type': 'application/json',
    };
  }

  /** @throws Error if a response differs from the documentation, or if no webhook arrives */
  async pay(dueAt: number): Promise<PaymentTimings> {
    const { sessionId, redirectUrl } = await this.createSession();
    const session = performance.now();
    const page = readBeginning(await this.downloadPage(redirectUrl));
    const pageAt = performance.now();
    const payRequest = buildPayment(page, sessionId);
    const encrypted = performance.now();
    const payResponse = await this.post(`/pay/${sessionId}/payments`, payRequest, this.scriptHeaders);
    const paid = performance.now();
    if (!payResponse.includes('"state":"succeeded"'))
      throw new Error(`The gateway responded ${payResponse.slice(0, 200)}`);
    return {
      sessionId,
      dueAt,
      session,
      page: pageAt,
      encrypted,
      paid,
      webhook: await this.endpoint.waitForWebhook(sessionId),
    };
  }

  /** Opens the page of a new session. The returned function sends the payment, and returns the gateway's response. */
  async openPage(): Promise<() => Promise<string>> {
    const { sessionId, redirectUrl } = await this.createSession();
    const payRequest = buildPayment(readBeginning(await this.downloadPage(redirectUrl)), sessionId);
    return () => this.post(`/pay/${sessionId}/payments`, payRequest, this.scriptHeaders);
  }

  async createSession(): Promise<{ sessionId: string; redirectUrl: string }> {
    const body = JSON.stringify({
      requestId: randomUUID(),
      merchantOrderId: 'ORDER-1',
      amount: 12_345,
      currencyISOCode: 'ZAR',
      notificationUrl: this.endpoint.url,
      returnUrl: 'http://127.0.0.1:9/return',
      cancelUrl: 'http://127.0.0.1:9/cancel',
      origin: '127.0.0.1',
    });
    return JSON.parse(await this.post('/api/v3.1/sessions', body, this.merchantHeaders)) as never;
  }

  /** Requests the page as a browser does. Returns the compressed page, or the page as it is with encoding `identity`. */
  async downloadPage(address: string, encoding: 'gzip' | 'identity' = 'gzip'): Promise<Buffer> {
    const { pathname, search } = new URL(address);
    const { statusCode, headers, body } = await this.pool.request({
      method: 'GET',
      path: pathname + search,
      headers: encoding === 'gzip' ? PAGE_HEADERS : { ...PAGE_HEADERS, 'accept-encoding': encoding },
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode !== 200 || (headers['content-encoding'] ?? 'identity') !== encoding)
      throw new Error(`GET ${address}: ${statusCode} ${String(headers['content-encoding'])}`);
    return bytes;
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async post(path: string, body: string, headers: Record<string, string>): Promise<string> {
    const response = await this.pool.request({ method: 'POST', path, body, headers });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`POST ${path}: ${response.statusCode} ${text.slice(0, 200)}`);
    return text;
  }
}

/** The body of a payment with a new card. */
function buildPayment(page: string, sessionId: string): string {
  return JSON.stringify(buildPayRequest(page, sessionId, { ...CARD, cardNumber: newCardNumber() }));
}
