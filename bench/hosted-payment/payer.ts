/**
 * Makes hosted payments over real HTTP: the calls of the merchant's server, those of the payment page, and the wait for
 * the webhook.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import type { Merchant } from '../platforms/system.ts';
import { encryptCard } from './encrypt-card.ts';
import type { MerchantEndpoint } from './merchant-endpoint.ts';

const CARD = {
  cardNumber: '4242424242424242',
  cvv: '123',
  holderName: 'Thandi Nkosi',
  expiryMonth: 12,
  expiryYear: 2035,
};
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
  private readonly headers: Record<string, string>;

  constructor({ gatewayUrl, merchantId, siteId, apiKey }: Merchant, endpoint: MerchantEndpoint) {
    this.endpoint = endpoint;
    this.pool = new Pool(gatewayUrl, { connections: CONNECTIONS, pipelining: 1 });
    this.headers = {
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
    const { pathname, search } = new URL(redirectUrl);
    const page = await this.request('GET', pathname + search);
    const pageAt = performance.now();
    const payRequest = buildPayRequest(page, sessionId);
    const encrypted = performance.now();
    const payResponse = await this.request('POST', `/pay/${sessionId}/payments`, payRequest);
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

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async createSession(): Promise<{ sessionId: string; redirectUrl: string }> {
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
    return JSON.parse(await this.request('POST', '/api/v3.1/sessions', body, this.headers)) as never;
  }

  private async request(
    method: 'GET' | 'POST',
    path: string,
    body: string | null = null,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<string> {
    const response = await this.pool.request({ method, path, body, headers });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 200)}`);
    return text;
  }
}

/** Encrypts the card for this session and payment, as the script of the page does. */
function buildPayRequest(page: string, sessionId: string): string {
  const readAttribute = (name: string): string => {
    const value = new RegExp(`data-${name}="([^"]*)"`).exec(page)?.[1];
    if (value === undefined) throw new Error(`The page has no data-${name}.`);
    return value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  };
  // A commit that `--against` names may have another word for the number of the payment.
  const hasOldName = page.includes(' data-try="');
  const paymentNumber = Number(readAttribute(hasOldName ? 'try' : 'payment-number'));
  const binding = { sessionId, paymentNumber, try: paymentNumber, expiresAt: readAttribute('expires-at') };
  const encryptedCard = encryptCard({ card: CARD, binding }, readAttribute('encryption-key'));
  const reference = randomUUID();
  return JSON.stringify({ reference, ...(hasOldName ? { try: paymentNumber } : { paymentNumber }), encryptedCard });
}
