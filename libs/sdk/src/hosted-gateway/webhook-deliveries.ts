/** The deliveries of a site's notifications: attempts, the endpoint's responses, and the next attempt. */
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
import { type ApiRequest, createApiError, type HttpExchange, readResponse } from '../http-exchange.js';

/**
 * `pending`: scheduled, or being sent. `superseded`: the notification of a failed payment whose session was paid later.
 * `exhausted`: all attempts failed. `gone`: your endpoint responded 410. The platform does not retry the last three.
 */
export type DeliveryState = 'pending' | 'delivered' | 'superseded' | 'exhausted' | 'gone';

/** One attempt with your endpoint's response. */
interface WebhookAttempt {
  /** From 1. */
  attemptNumber: number;
  /** ISO 8601 UTC. */
  startedUTCDate: string;
  durationMs: number;
  /** `acknowledged`: 2xx. `refused`: another status. `unanswered`: no response, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, or `address-unavailable` (the host has no allowed IP address). */
  errorClass: string | null;
  /** The beginning of the response body: 200 characters in a list, 2000 for a single delivery. */
  response: string | null;
}

interface WebhookDelivery {
  id: string;
  /** The header `webhook-id` of every attempt. */
  webhookId: string;
  /** `session`: to the notificationUrl of a session. `site`: to the webhook of the site. */
  recipient: 'session' | 'site';
  type: 'payment' | 'refund' | 'dispute';
  sessionId: string | null;
  paymentReference: string;
  paymentStatus: 'Success' | 'Failed';
  url: string;
  state: DeliveryState;
  /** Number of attempts so far. */
  attemptCount: number;
  /** ISO 8601 UTC, like the other dates. */
  createdUTCDate: string;
  deliveredUTCDate: string | null;
  /** Time of the next attempt; null while an attempt is in progress and in all states but `pending`. */
  nextAttemptUTCDate: string | null;
  /** Missing keys, without which the notification cannot be signed and sent: ask an administrator to create them. */
  missingKeys: readonly string[] | null;
  lastAttempt: WebhookAttempt | null;
}

interface WebhookDeliveryPage {
  /** Newest first, at most 50. */
  deliveries: WebhookDelivery[];
  /** Pass it to read the next page; undefined on the last page. */
  after: string | undefined;
  hasMore: boolean;
}

/** `client.webhooks.deliveries`. Its calls require an API key, even if other calls for the site do not. */
export class WebhookDeliveries {
  constructor(
    private readonly http: HttpExchange,
    private readonly base: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** @throws SvcApiError 400 for an invalid state or `after` */
  async list({ state, after }: { state?: DeliveryState; after?: string } = {}): Promise<WebhookDeliveryPage> {
    const query = new URLSearchParams({ ...(state && { state }), ...(after && { after }) });
    const response = await this.http.sendWithRetries(this.request('GET', query.size > 0 ? `?${query.toString()}` : ''));
    return readResponse(response, (body) => {
      const { deliveries, hasMore } = body;
      if (!Array.isArray(deliveries)) throw new MalformedPaymentError('deliveries');
      if (typeof hasMore !== 'boolean') throw new MalformedPaymentError('hasMore');
      return {
        deliveries: deliveries.map((item: unknown) => readDelivery(readObject(item, 'deliveries'))),
        after: body['after'] === undefined ? undefined : readText(body, 'after'),
        hasMore,
      };
    });
  }

  /**
   * One delivery with its attempts, newest first, at most 100.
   *
   * @throws SvcApiError 404 when this merchant and site do not have it
   */
  async get(id: string): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
    const response = await this.http.sendWithRetries(this.request('GET', `/${segment(id)}`));
    return readResponse(response, (body) => {
      if (!Array.isArray(body['attempts'])) throw new MalformedPaymentError('attempts');
      return { ...readDelivery(body), attempts: body['attempts'] as WebhookAttempt[] };
    });
  }

  /**
   * Resends the notification now, with a new retry schedule and the same `webhook-id`. The client does not retry this
   * call.
   *
   * @throws SvcApiError 404 for an unknown delivery; 409 while it is being sent, or when its session was paid later;
   *   429 within 10 s of the last resend
   */
  async resend(id: string): Promise<void> {
    const response = await this.http.sendOnce(this.request('POST', `/${segment(id)}/resend`));
    if (!response.ok) throw createApiError(response);
  }

  private request(method: 'GET' | 'POST', path: string): ApiRequest {
    return { method, url: `${this.base}/deliveries${path}`, headers: this.headers };
  }
}

/** Validates only the fields that determine what a program does next. The other fields are returned as received. */
function readDelivery(body: Record<string, unknown>): WebhookDelivery {
  const { status: _, errors: __, attempts: ___, ...delivery } = body;
  for (const field of ['id', 'webhookId', 'paymentReference', 'state']) readText(body, field);
  return delivery as unknown as WebhookDelivery;
}

/** Encodes an id for a path. Refuses `..` and an empty text, because they would address another resource. */
function segment(id: string): string {
  if (typeof id !== 'string' || !/^[\w-]{1,100}$/.test(id)) throw new TypeError('id is malformed');
  return id;
}
