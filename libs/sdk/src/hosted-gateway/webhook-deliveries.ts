/** The deliveries of a site's notifications: attempts, the endpoint's responses, and the next attempt. */
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
import { type ApiRequest, describeFailure, type HttpExchange, readAnswer } from '../http-exchange.js';

/**
 * `pending`: scheduled, or being sent. `superseded`: a failed payment whose session was paid later. `exhausted` and `gone`: given
 * up.
 */
export type DeliveryState = 'pending' | 'delivered' | 'superseded' | 'exhausted' | 'gone';

/** One attempt with your endpoint's response. */
export interface WebhookAttempt {
  /** From 1. */
  attemptNumber: number;
  /** ISO 8601 UTC. */
  startedUTCDate: string;
  durationMs: number;
  /** `acknowledged`: 2xx. `refused`: another status. `unanswered`: no response, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, `address-unavailable`: the host has no address, or none that is accepted. */
  errorClass: string | null;
  /** The beginning of the response body: 200 characters in a list, 2000 for a single delivery. */
  answer: string | null;
}

export interface WebhookDelivery {
  id: string;
  /** The header `webhook-id` of every attempt. */
  webhookId: string;
  /** `session`: to the notificationUrl of a session. `site`: to the webhook of the site. */
  recipient: 'session' | 'site';
  type: 'payment' | 'refund';
  sessionId: string | null;
  paymentReference: string;
  paymentStatus: 'Success' | 'Failed';
  url: string;
  state: DeliveryState;
  /** Number of attempts so far. */
  attemptCount: number;
  /** ISO 8601 UTC, like the next two. */
  createdUTCDate: string;
  deliveredUTCDate: string | null;
  /** Time of the next attempt; null while it is being sent and in all states but `pending`. */
  nextAttemptUTCDate: string | null;
  /** Missing keys, without which it cannot be signed and sent: ask an administrator to create them. */
  missingKeys: readonly string[] | null;
  lastAttempt: WebhookAttempt | null;
}

export interface WebhookDeliveryPage {
  /** Newest first, at most 50. */
  deliveries: WebhookDelivery[];
  /** Pass it for the next page; undefined on the last. */
  after: string | undefined;
  hasMore: boolean;
}

/** `client.webhooks.deliveries`. Requires a key, even for a site without a required key. */
export class WebhookDeliveries {
  constructor(
    private readonly http: HttpExchange,
    private readonly base: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** @throws SvcApiError 400 for an invalid state or `after` */
  async list({ state, after }: { state?: DeliveryState; after?: string } = {}): Promise<WebhookDeliveryPage> {
    const query = new URLSearchParams({ ...(state && { state }), ...(after && { after }) });
    const answer = await this.http.repeatably(this.request('GET', query.size > 0 ? `?${query.toString()}` : ''));
    return readAnswer(answer, (body) => {
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

  /** With its attempts, newest first, at most 100. @throws SvcApiError 404 when this merchant and site do not have it */
  async get(id: string): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
    const answer = await this.http.repeatably(this.request('GET', `/${segment(id)}`));
    return readAnswer(answer, (body) => {
      if (!Array.isArray(body['attempts'])) throw new MalformedPaymentError('attempts');
      return { ...readDelivery(body), attempts: body['attempts'] as WebhookAttempt[] };
    });
  }

  /**
   * Sends it again now with a new retry schedule; your endpoint gets the same `webhook-id`. Not retried.
   *
   * @throws SvcApiError 404; 409 while it is being sent, or when its session was paid later; 429 within 10 s of the last resend
   */
  async resend(id: string): Promise<void> {
    const answer = await this.http.once(this.request('POST', `/${segment(id)}/resend`));
    if (!answer.ok) throw describeFailure(answer);
  }

  private request(method: 'GET' | 'POST', path: string): ApiRequest {
    return { method, url: `${this.base}/deliveries${path}`, headers: this.headers };
  }
}

/** Validates the fields that programs branch on; the rest is returned as received. */
function readDelivery(body: Record<string, unknown>): WebhookDelivery {
  const { status: _, errors: __, attempts: ___, ...delivery } = body;
  for (const field of ['id', 'webhookId', 'paymentReference', 'state']) readText(body, field);
  return delivery as unknown as WebhookDelivery;
}

/** `..` or an empty text would address another resource. */
function segment(id: string): string {
  if (typeof id !== 'string' || !/^[\w-]{1,100}$/.test(id)) throw new TypeError('id is malformed');
  return id;
}
