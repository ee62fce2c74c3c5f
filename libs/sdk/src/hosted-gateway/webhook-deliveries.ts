/** The deliveries of a site's notifications as its merchant reads them: what was sent, what the endpoint answered, what is next. */
import { type ApiRequest, describeFailure, type HttpExchange, readAnswer } from '../http-exchange.js';
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';

/** `pending`: due, or being sent. `superseded`: of a failed payment whose session was paid since. `exhausted` and `gone`: given up. */
export type DeliveryState = 'pending' | 'delivered' | 'superseded' | 'exhausted' | 'gone';

/** One attempt, and what your endpoint answered. */
export interface WebhookAttempt {
  /** From 1. */
  attemptNumber: number;
  /** ISO 8601 UTC. */
  startedUTCDate: string;
  durationMs: number;
  /** `acknowledged`: 2xx. `refused`: another status. `unanswered`: none, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, `address-unavailable`: the host has no address, or none that is accepted. */
  errorClass: string | null;
  /** The beginning of the answer: 200 characters in a list, 2000 of one delivery. */
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
  /** Attempts ever made. */
  attemptCount: number;
  /** ISO 8601 UTC, as the next two. */
  createdUTCDate: string;
  deliveredUTCDate: string | null;
  /** When the next attempt is due; null while it is being sent, and unless pending. */
  nextAttemptUTCDate: string | null;
  /** Keys that are missing, so that it is not signed and not sent: an administrator makes them. */
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

/** `client.webhooks.deliveries`. Needs a key, also at a site that does without. */
export class WebhookDeliveries {
  constructor(
    private readonly http: HttpExchange,
    private readonly base: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** @throws SvcApiError 400 for a state or an `after` that is none */
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

  /** With its attempts, newest first, at most 100. @throws SvcApiError 404 when it is not of this merchant and site */
  async get(id: string): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
    const answer = await this.http.repeatably(this.request('GET', `/${segment(id)}`));
    return readAnswer(answer, (body) => {
      if (!Array.isArray(body['attempts'])) throw new MalformedPaymentError('attempts');
      return { ...readDelivery(body), attempts: body['attempts'] as WebhookAttempt[] };
    });
  }

  /**
   * Sends it again now, with the whole schedule of retries before it; your endpoint gets the same `webhook-id`. Tried once.
   *
   * @throws SvcApiError 404; 409 while it is being sent, or when its session was paid since; 429 within 10 s of the last time
   */
  async resend(id: string): Promise<void> {
    const answer = await this.http.once(this.request('POST', `/${segment(id)}/resend`));
    if (!answer.ok) throw describeFailure(answer);
  }

  private request(method: 'GET' | 'POST', path: string): ApiRequest {
    return { method, url: `${this.base}/deliveries${path}`, headers: this.headers };
  }
}

/** What a program branches on is read; the rest is taken as the platform sends it. */
function readDelivery(body: Record<string, unknown>): WebhookDelivery {
  const { status: _, errors: __, attempts: ___, ...delivery } = body;
  for (const field of ['id', 'webhookId', 'paymentReference', 'state']) readText(body, field);
  return delivery as unknown as WebhookDelivery;
}

/** `..` or an empty text would silently be another resource. */
function segment(id: string): string {
  if (typeof id !== 'string' || !/^[\w-]{1,100}$/.test(id)) throw new TypeError('id is malformed');
  return id;
}
