/**
 * Client of the hosted gateway's API for a merchant's server. It retries safe calls within bounds: creating a session (idempotent
 * by `requestId`, C7) and reads. It never moves money; the payer does that on the page.
 */
import { baseAddress, requiredDigits, requiredText } from '../client-options.js';
import {
  type HostedPayment,
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readHostedPayment,
  readObject,
  readText,
  readWhole,
} from '../hosted-payment.js';
import { describeFailure, HttpExchange, type HttpExchangeOptions, readAnswer } from '../http-exchange.js';
import { WebhookDeliveries } from './webhook-deliveries.js';

export interface HostedGatewayClientOptions extends HttpExchangeOptions {
  /** `{gateway_url}`, for example `https://pay.example.com`; a path before `/api` is kept. */
  gatewayUrl: string;
  merchantId: string | number;
  siteId: string | number;
  /** The site's or the merchant's key. Required unless the site is configured without one (A8). */
  apiKey?: string;
  /** The API version; it decides how the webhook is signed (H5). Default `v3.1`. */
  version?: 'v3.1' | 'v3';
}

/** "Hosted session request fields" of the interface specification. Text ≤ 100 characters, addresses ≤ 2048 (C6). */
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
   * Language of the page, BCP 47: `en`, `af`, `zu`, `xh` or `st`, also with a region (`zu-ZA`). By default, and for other
   * languages, the payer's browser decides; the payer can change it on the page. A repeat of `requestId` may have another locale.
   */
  locale?: string;
}

/** A page of the feed of notifications, oldest first. */
export interface NotificationPage {
  /** `id` is the `webhook-id` of every delivery of this notification: apply each id once. */
  notifications: { id: string; payment: HostedPayment }[];
  /** Store it and pass it next time; undefined if there are no notifications at all. */
  after: string | undefined;
  /** More can be read immediately. */
  hasMore: boolean;
}

export interface CreatedSession {
  sessionId: string;
  /** Redirect the payer's browser here. */
  redirectUrl: string;
  /** True if an earlier request with this `requestId` created the session. */
  replayed: boolean;
  /**
   * Check it when a customer returns to pay: the same `requestId` returns the same session, also a final one. `refused`,
   * `expired` and `cancelled` accept no payment: create another session with a new `requestId`.
   */
  state: SessionState;
}

/** `open`: can be paid. `processing`: the bank has not responded yet. The others are final. */
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
  /** ISO 8601 UTC, like the next: 30 minutes later. */
  createdUTCDate: string;
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
    this.base = `${baseAddress(options.gatewayUrl, 'gatewayUrl')}/api/${version}`;
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
   * Creates a session for a payer. Safe to repeat: the client makes up to four attempts after a lost connection, 429, 502, 503,
   * 504, or 409 while an equal request is running.
   *
   * @throws SvcApiError 400 names every invalid field; 401 wrong key; 409 the same
   * requestId with different content
   */
  async createSession(request: CreateSessionRequest): Promise<CreatedSession> {
    const answer = await this.http.repeatably({
      method: 'POST',
      url: `${this.base}/sessions`,
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    return readAnswer(answer, (body) => ({
      sessionId: readText(body, 'sessionId'),
      redirectUrl: readText(body, 'redirectUrl'),
      replayed: answer.headers.get('idempotency-replayed') === 'true',
      // A new session is open.
      state: body['sessionState'] === undefined ? 'open' : readState(body),
    }));
  }

  /** The current state of a session. @throws SvcApiError 404 when this merchant and site do not have it */
  async getSession(sessionId: string): Promise<HostedSession> {
    const url = `${this.base}/sessions/${pathSegment(sessionId, 'sessionId')}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, (body) => ({
      sessionId: readText(body, 'sessionId'),
      redirectUrl: readText(body, 'redirectUrl'),
      state: readState(body),
      requestId: readText(body, 'requestId'),
      merchantOrderId: readText(body, 'merchantOrderId'),
      amount: readWhole(body, 'amount', MAX_AMOUNT_CENTS),
      currencyISOCode: readText(body, 'currencyISOCode'),
      createdUTCDate: readText(body, 'createdUTCDate'),
      expiresUTCDate: readText(body, 'expiresUTCDate'),
    }));
  }

  /**
   * Cancels an open session, so that its page accepts no payment (H2). Not retried: after a lost response, check the session's
   * payments before you decide.
   *
   * @throws SvcApiError 404 unknown session; 409 when a payment is in progress or the session is already closed
   */
  async cancelSession(sessionId: string): Promise<void> {
    const url = `${this.base}/sessions/${pathSegment(sessionId, 'sessionId')}`;
    const answer = await this.http.once({ method: 'DELETE', url, headers: this.headers });
    if (!answer.ok) throw describeFailure(answer);
  }

  /** The final payments of a session, including failed ones, available before the payer returns (H3). */
  async listPayments(sessionId: string): Promise<HostedPayment[]> {
    const url = `${this.base}/payments?sessionId=${encodeURIComponent(sessionId)}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, (body) => {
      if (!Array.isArray(body['payments'])) throw new MalformedPaymentError('payments');
      return body['payments'].map(readHostedPayment);
    });
  }

  /** One final payment (H3). @throws SvcApiError 404 when this merchant and site do not have it */
  async getPayment(paymentReference: string): Promise<HostedPayment> {
    const url = `${this.base}/payments/${pathSegment(paymentReference, 'paymentReference')}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, readHostedPayment);
  }

  /**
   * Your notifications, delivered or not, oldest first, at most 100. After an outage of your server continue from the last
   * `after` that you stored. Without one, or with an empty one, it starts at the beginning.
   *
   * @throws SvcApiError 400 for an
   * invalid `after`
   */
  async listNotifications(after?: string): Promise<NotificationPage> {
    const url = `${this.base}/notifications${after ? `?after=${encodeURIComponent(after)}` : ''}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, (body) => {
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

function readState(body: Record<string, unknown>): SessionState {
  const state = SESSION_STATES.find((each) => each === body['sessionState']);
  if (state === undefined) throw new MalformedPaymentError('sessionState');
  return state;
}

/** `..` or an empty text would address another resource. */
function pathSegment(value: string, name: string): string {
  if (typeof value !== 'string' || !/^[\w-]{1,100}$/.test(value)) throw new TypeError(`${name} is malformed`);
  return value;
}
