/**
 * Makes hosted payments over real HTTP: the calls of the merchant's server, those of the payment page, and the wait for
 * the webhook.
 */
import { randomUUID } from 'node:crypto';
import { constants, gunzipSync } from 'node:zlib';
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
/** The headers of a browser. The gateway compresses the page, and checks the origin of a payment. */
const BROWSER_HEADERS = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-ZA,en-GB;q=0.9,en-US;q=0.8,en;q=0.7',
};
const PAGE_HEADERS = {
  ...BROWSER_HEADERS,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'upgrade-insecure-requests': '1',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
const SCRIPT_HEADERS = {
  ...BROWSER_HEADERS,
  accept: '*/*',
  'content-type': 'application/json',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
};
/** The data for the script of the page are within these first bytes of the compressed page. */
const READ_BYTES = 8_000;

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
    const payRequest = buildPayRequest(page, sessionId);
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

/** The beginning of a compressed page. Browsers decompress the whole page, but do not share the server's processors. */
function readBeginning(page: Buffer): string {
  return gunzipSync(page.subarray(0, READ_BYTES), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
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
