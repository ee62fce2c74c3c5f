/**
 * The hosted gateway's API as a merchant's server calls it. What may be repeated without harm is repeated here,
 * within bounds: creating a session (idempotent by `requestId`, C7) and reading. Money is never moved by this client;
 * the payer does that on the page.
 */
import { baseAddress, requiredDigits, requiredText } from '../client-options.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { describeFailure, HttpExchange, type HttpExchangeOptions, readAnswer } from '../http-exchange.js';
import {
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readHostedPayment,
  readObject,
  readText,
  readWhole,
  type HostedPayment,
} from '../hosted-payment.js';

export interface HostedGatewayClientOptions extends HttpExchangeOptions {
  /** `{gateway_url}`, for example `https://pay.example.com`; a path before `/api` is kept. */
  gatewayUrl: string;
  merchantId: string | number;
  siteId: string | number;
  /** The site's or the merchant's key. Needed unless the site was set up without it (A8). */
  apiKey?: string;
  /** The interface version; the webhook is signed accordingly (H5). `v3.1` when left out. */
  version?: 'v3.1' | 'v3';
}

/** "Hosted session request fields" of the interface specification. Text ≤ 100 characters, addresses ≤ 2048 (C6). */
export interface CreateSessionRequest {
  /** Your unique id of this request. Keep it for a repeat: the same one gives the same session (C7). */
  requestId: string;
  /** Your order reference; comes back in the webhook. */
  merchantOrderId: string;
  /** Integer cents, 1 to 100 000 000 000. */
  amount: number;
  currencyISOCode: 'ZAR';
  /** Receives the webhook. https. */
  notificationUrl: string;
  /** The payer comes here after a successful payment, with `sessionId`, `merchantOrderId`, … in the query (H6). */
  returnUrl: string;
  /** The payer comes here with "Back to store". */
  cancelUrl: string;
  /** Site or domain the request came from. */
  origin: string;
  /** Name of the site, shown to the payer. */
  siteName?: string;
  /** Shown to the payer as what is bought: at most 20, key ≤ 64, value ≤ 512 characters. */
  customFields?: readonly { key: string; value: string }[];
  /**
   * Language of the page, BCP 47: `en`, `af`, `zu`, `xh` or `st`, also with a region (`zu-ZA`). With another one, or without,
   * the payer's browser decides; the payer can change it on the page. Not part of what a repeat of `requestId` is compared by.
   */
  locale?: string;
}

/** A page of the feed of notifications, oldest first. */
export interface NotificationPage {
  /** `id` is the `webhook-id` of every delivery of this notification: apply each id once, however it came. */
  notifications: { id: string; payment: HostedPayment }[];
  /** Keep it, and go on from it next time; undefined where there was never anything to tell. */
  after: string | undefined;
  /** More can be read at once. */
  hasMore: boolean;
}

export interface CreatedSession {
  sessionId: string;
  /** Send the payer's browser here. */
  redirectUrl: string;
  /** True when this `requestId` had already made the session. */
  replayed: boolean;
  /**
   * Look at it where a customer comes back to pay: the same `requestId` gives the same session, also one that has ended.
   * `refused`, `expired` and `cancelled` take no payment any more: ask for another session under a new `requestId`.
   */
  state: SessionState;
}

/** `open`: can be paid. `processing`: the bank has not answered yet. The others are final. */
export type SessionState = 'open' | 'processing' | 'completed' | 'refused' | 'expired' | 'cancelled';

/** A session as it is now. */
export interface HostedSession {
  sessionId: string;
  redirectUrl: string;
  state: SessionState;
  requestId: string;
  merchantOrderId: string;
  /** Integer cents. */
  amount: number;
  currencyISOCode: string;
  /** ISO 8601 UTC, as the next: 30 minutes later. */
  createdUTCDate: string;
  expiresUTCDate: string;
}

const SESSION_STATES: readonly SessionState[] = ['open', 'processing', 'completed', 'refused', 'expired', 'cancelled'];

export class HostedGatewayClient {
  /** What your endpoints were sent, what they answered, and sending it again. */
  readonly webhooks: { readonly deliveries: WebhookDeliveries };
  private readonly http: HttpExchange;
  private readonly base: string;
  private readonly headers: Readonly<Record<string, string>>;

  /** @throws TypeError that names the option which is missing or malformed */
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
   * Creates the session a payer is sent to. Safe to repeat, and repeated here after a lost connection, 429, 502, 503,
   * 504, or 409 while an equal request is still running: at most four tries.
   *
   * @throws SvcApiError 400 names every bad field; 401 a wrong key; 409 the same requestId with another content
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
      // A session that was just made is open.
      state: body['sessionState'] === undefined ? 'open' : readState(body),
    }));
  }

  /** A session as it is now. @throws SvcApiError 404 when there is none for this merchant and site */
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
   * Cancels an open session, so that its page takes no payment any more (H2). Tried once: after a lost answer, look
   * at the session's payments before you decide.
   *
   * @throws SvcApiError 404 unknown session; 409 when a payment is in progress or the session is already closed
   */
  async cancelSession(sessionId: string): Promise<void> {
    const url = `${this.base}/sessions/${pathSegment(sessionId, 'sessionId')}`;
    const answer = await this.http.once({ method: 'DELETE', url, headers: this.headers });
    if (!answer.ok) throw describeFailure(answer);
  }

  /** The final payments of a session, failed ones included, readable before the payer comes back (H3). */
  async listPayments(sessionId: string): Promise<HostedPayment[]> {
    const url = `${this.base}/payments?sessionId=${encodeURIComponent(sessionId)}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, (body) => {
      if (!Array.isArray(body['payments'])) throw new MalformedPaymentError('payments');
      return body['payments'].map(readHostedPayment);
    });
  }

  /** One final payment (H3). @throws SvcApiError 404 when there is none for this merchant and site */
  async getPayment(paymentReference: string): Promise<HostedPayment> {
    const url = `${this.base}/payments/${pathSegment(paymentReference, 'paymentReference')}`;
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer(answer, readHostedPayment);
  }

  /**
   * What your endpoint was or should have been told, oldest first, at most 100: after an outage of yours, go on from the
   * last `after` you have kept. Without one, or with an empty one, from the beginning.
   *
   * @throws SvcApiError 400 for an `after` that is none
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

/** `..` or an empty text would silently be another resource. */
function pathSegment(value: string, name: string): string {
  if (typeof value !== 'string' || !/^[\w-]{1,100}$/.test(value)) throw new TypeError(`${name} is malformed`);
  return value;
}
