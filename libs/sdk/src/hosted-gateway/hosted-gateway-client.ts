/**
 * Client of the hosted gateway's API for a merchant's server. It retries only safe calls: reads, and creating a
 * session, which is idempotent by `requestId` (C7). No call moves money; the payer pays on the page.
 */
import { requiredBaseUrl, requiredDigits, requiredText } from '../client-options.js';
import {
  type HostedPayment,
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readHostedPayment,
  readObject,
  readText,
  readWholeNumber,
} from '../hosted-payment.js';
import { createApiError, HttpExchange, type HttpExchangeOptions, readResponse } from '../http-exchange.js';
import { WebhookDeliveries } from './webhook-deliveries.js';

export interface HostedGatewayClientOptions extends HttpExchangeOptions {
  /** `{gateway_url}`, for example `https://pay.example.com`. It may contain a path, after which `/api` is appended. */
  gatewayUrl: string;
  merchantId: string | number;
  siteId: string | number;
  /** The site's or the merchant's API key. Required, unless the site is configured to need no key (A8). */
  apiKey?: string;
  /** The API version, which decides how the webhook is signed (H5). Default `v3.1`. */
  version?: 'v3.1' | 'v3';
}

/** "Hosted session request fields" of the interface specification. Text ≤ 100 characters, URLs ≤ 2048 (C6). */
export interface CreateSessionRequest {
  /** Your unique id of this request. Store it for repeats: the same id returns the same session (C7). */
  requestId: string;
  /** Your order reference; the webhook contains it. */
  merchantOrderId: string;
  /** Integer cents, 1 to 100 000 000 000. */
  amount: number;
  currencyISOCode: 'ZAR';
  /** Receives the webhook. https. */
  notificationUrl: string;
  /** The payer returns here after a successful payment, with `sessionId`, `merchantOrderId`, … in the query (H6). */
  returnUrl: string;
  /** Target of "Back to store". */
  cancelUrl: string;
  /** Site or domain of the request. */
  origin: string;
  /** Name of the site, shown to the payer. */
  siteName?: string;
  /** Shown to the payer: at most 20, key ≤ 64, value ≤ 512 characters. */
  customFields?: readonly { key: string; value: string }[];
  /**
   * Lines of the order on the page and the receipt: at most 500, each with a name (200), a productCode (100) or a sku
   * (100). The lines and `shippingAmount`, with or without `taxAmount`, must add up to `amount`; otherwise they are not
   * shown. A repeat of `requestId` may have other lines; the session keeps the first ones.
   */
  lineItems?: readonly SessionLineItem[];
  /** Integer cents: included in the prices of the lines, or added to them. */
  taxAmount?: number;
  /** Price of the delivery in integer cents. */
  shippingAmount?: number;
  /**
   * Language of the page, BCP 47: `en`, `af`, `zu`, `xh` or `st`, also with a region (`zu-ZA`). By default, and for
   * other languages, the payer's browser decides; the payer can change it on the page. A repeat of `requestId` may have
   * another locale.
   */
  locale?: string;
}

export interface SessionLineItem {
  name?: string;
  productCode?: string;
  sku?: string;
  /** Price of one unit in integer cents. */
  unitPrice: number | string;
  /** Default 1; a fraction for weighed goods, negative for returns and discounts. */
  quantity?: number;
}

/** A page of the feed of notifications, oldest first. */
export interface NotificationPage {
  /** `id` is the `webhook-id` of every delivery of this notification: apply each id once. */
  notifications: { id: string; payment: HostedPayment }[];
  /**
   * Position after this page. Store it, and pass it to the next call. Undefined if there are no notifications at all.
   */
  after: string | undefined;
  /** Whether more notifications can be read immediately. */
  hasMore: boolean;
}

export interface CreatedSession {
  sessionId: string;
  /** Redirect the payer's browser here. */
  redirectUrl: string;
  /** True if an earlier request with this `requestId` created the session. */
  replayed: boolean;
  /**
   * Check the state when a customer returns to pay, because the same `requestId` returns the same session even if it is
   * final. A session that is `refused`, `expired` or `cancelled` accepts no payment: create another session with a new
   * `requestId`.
   */
  state: SessionState;
  /**
   * Only in test mode: fields of your request that were ignored and look misspelled, lines that do not add up to the
   * amount and are not shown, and an address that production would refuse. Node.js prints each as a warning too.
   */
  warnings: readonly RequestWarning[];
}

/** A field of a request that probably has a mistake, although the request was accepted. */
export interface RequestWarning {
  /** Absent if the warning concerns no single field. */
  field?: string;
  message: string;
}

/** `open`: can be paid. `processing`: the bank has not responded yet. The other states are final. */
export type SessionState = 'open' | 'processing' | 'completed' | 'refused' | 'expired' | 'cancelled';

/** The current state of a session. */
export interface HostedSession {
  sessionId: string;
  redirectUrl: string;
  state: SessionState;
  requestId: string;
  merchantOrderId: string;
  /** Integer cents. */
  amount: number;
  currencyISOCode: string;
  /** ISO 8601 UTC. */
  createdUTCDate: string;
  /** ISO 8601 UTC. By default 30 minutes after the creation. */
  expiresUTCDate: string;
}

const SESSION_STATES: readonly SessionState[] = ['open', 'processing', 'completed', 'refused', 'expired', 'cancelled'];

export class HostedGatewayClient {
  /** Deliveries to your endpoints, their responses, and resending. */
  readonly webhooks: { readonly deliveries: WebhookDeliveries };
  private readonly http: HttpExchange;
  private readonly base: string;
  private readonly headers: Readonly<Record<string, string>>;

  /** @throws TypeError that names a missing or malformed option */
  constructor(options: HostedGatewayClientOptions) {
    const version: string = options.version ?? 'v3.1';
    if (version !== 'v3.1' && version !== 'v3') throw new TypeError('version must be v3.1 or v3');
    const gatewayUrl = requiredBaseUrl(options.gatewayUrl, 'gatewayUrl');
    if (/\/api\/v[\d.]+$/.test(gatewayUrl)) throw new TypeError('gatewayUrl must be the address without /api/v3.1');
    this.base = `${gatewayUrl}/api/${version}`;
    this.headers = {
      accept: 'application/json',
      merchantId: requiredDigits(options.merchantId, 'merchantId'),
      merchantSiteId: requiredDigits(options.siteId, 'siteId'),
      ...(options.apiKey === undefined ? {} : { 'x-api-key': requiredText(options.apiKey, 'apiKey') }),
    };
    this.http = new HttpExchange(options);
    this.webhooks = { deliveries: new WebhookDeliveries(this.http, this.base, this.headers) };
  }

  /**
   * Creates a session for a payer. Safe to repeat: the client makes up to four attempts after a lost connection, 408, 429,
   * 502, 503, 504, or a 409 that means that an equal request is in progress.
   *
   * @throws SvcApiError 400 names every invalid field; 401 for a wrong key; 409 if the requestId was used with
   *   different content
   */
  async createSession(request: CreateSessionRequest): Promise<CreatedSession> {
    const response = await this.http.sendWithRetries({
      method: 'POST',
      url: `${this.base}/sessions`,
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    const session = readResponse(response, (body) => ({
      sessionId: readText(body, 'sessionId'),
      redirectUrl: readText(body, 'redirectUrl'),
      replayed: response.headers.get('idempotency-replayed') === 'true',
      // The response contains no state if the session is new, and a new session is open.
      state: body['sessionState'] === undefined ? ('open' as const) : readState(body),
      warnings: readWarnings(body),
    }));
    for (const { message } of session.warnings) process.emitWarning(message, 'SvcRequestWarning');
    return session;
  }

  /** The current state of a session. @throws SvcApiError 404 when this merchant and site do not have it */
  async getSession(sessionId: string): Promise<HostedSession> {
    const url = `${this.base}/sessions/${pathSegment(sessionId, 'sessionId')}`;
    const response = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
    return readResponse(response, (body) => ({
      sessionId: readText(body, 'sessionId'),
      redirectUrl: readText(body, 'redirectUrl'),
      state: readState(body),
      requestId: readText(body, 'requestId'),
      merchantOrderId: readText(body, 'merchantOrderId'),
      amount: readWholeNumber(body, 'amount', MAX_AMOUNT_CENTS),
      currencyISOCode: readText(body, 'currencyISOCode'),
      createdUTCDate: readText(body, 'createdUTCDate'),
      expiresUTCDate: readText(body, 'expiresUTCDate'),
    }));
  }

  /**
   * Cancels an open session, so that its page accepts no payment (H2). The client does not retry this call. After a
   * lost response, read the state of the session, which may be cancelled or paid.
   *
   * @throws SvcApiError 404 unknown session; 409 when a payment is in progress or the session is already closed
   */
  async cancelSession(sessionId: string): Promise<void> {
    const url = `${this.base}/sessions/${pathSegment(sessionId, 'sessionId')}`;
    const response = await this.http.sendOnce({ method: 'DELETE', url, headers: this.headers });
    if (!response.ok) throw createApiError(response);
  }

  /**
   * The final payments of a session, including failed ones. They are available before the payer returns to your shop
   * (H3).
   */
  async listPayments(sessionId: string): Promise<HostedPayment[]> {
    const url = `${this.base}/payments?sessionId=${encodeURIComponent(sessionId)}`;
    const response = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
    return readResponse(response, (body) => {
      if (!Array.isArray(body['payments'])) throw new MalformedPaymentError('payments');
      return body['payments'].map(readHostedPayment);
    });
  }

  /** One final payment (H3). @throws SvcApiError 404 when this merchant and site do not have it */
  async getPayment(paymentReference: string): Promise<HostedPayment> {
    const url = `${this.base}/payments/${pathSegment(paymentReference, 'paymentReference')}`;
    const response = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
    return readResponse(response, readHostedPayment);
  }

  /**
   * Your notifications, delivered or not, oldest first, at most 100. After an outage of your server, continue from the
   * last `after` that you stored. Without `after`, or if it is empty, the feed starts at the first notification.
   *
   * @throws SvcApiError 400 for an invalid `after`
   */
  async listNotifications(after?: string): Promise<NotificationPage> {
    const url = `${this.base}/notifications${after ? `?after=${encodeURIComponent(after)}` : ''}`;
    const response = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
    return readResponse(response, (body) => {
      const { notifications, hasMore } = body;
      if (!Array.isArray(notifications)) throw new MalformedPaymentError('notifications');
      if (typeof hasMore !== 'boolean') throw new MalformedPaymentError('hasMore');
      return {
        notifications: notifications.map((item: unknown) => {
          const entry = readObject(item, 'notifications');
          return { id: readText(entry, 'id'), payment: readHostedPayment(entry['notification']) };
        }),
        after: body['after'] === undefined ? undefined : readText(body, 'after'),
        hasMore,
      };
    });
  }
}

function readWarnings({ warnings }: Record<string, unknown>): RequestWarning[] {
  if (!Array.isArray(warnings)) return [];
  // A warning that cannot be read must not fail the call, which has created the session.
  return warnings.flatMap((warning: unknown) => {
    const { field, message } = (warning ?? {}) as { field?: unknown; message?: unknown };
    if (typeof message !== 'string') return [];
    return [typeof field === 'string' ? { field, message } : { message }];
  });
}

function readState(body: Record<string, unknown>): SessionState {
  const state = SESSION_STATES.find((each) => each === body['sessionState']);
  if (state === undefined) throw new MalformedPaymentError('sessionState');
  return state;
}

/** Encodes an id for a path. Refuses `..` and an empty text, because they would address another resource. */
function pathSegment(value: string, name: string): string {
  if (typeof value !== 'string' || !/^[\w-]{1,100}$/.test(value)) throw new TypeError(`${name} is malformed`);
  return value;
}
