import type { PaymentStatusText, ResponseStatusText } from '../../payment-status.js';
import type { HostedError } from './hosted-session.js';

/**
 * - `pending`: scheduled, or being sent.
 * - `delivered`: the endpoint responded 2xx.
 * - `superseded`: reports a failed payment, but the session was paid before the endpoint acknowledged the report (E2).
 * - `exhausted`: all attempts of the schedule failed (E5). It can be resent.
 * - `gone`: the endpoint responded 410. It can be resent.
 */
export const DELIVERY_STATES = ['pending', 'delivered', 'superseded', 'exhausted', 'gone'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One delivery attempt with the endpoint's response. */
export interface DeliveryAttempt {
  /** From 1. */
  attemptNumber: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  startedUTCDate: string;
  /** Milliseconds until the response was read, or the attempt was aborted. */
  durationMs: number;
  /** `acknowledged`: 2xx. `refused`: another status. `unanswered`: no response, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, or `address-unavailable` (the host has no allowed IP address). */
  errorClass: string | null;
  /**
   * Advice if the response is probably a mistake of the endpoint: an HTML page, or a redirect with its final address.
   * Otherwise null.
   */
  hint: string | null;
  /** The beginning of the response body: 200 characters in a list, 2000 for a single delivery. */
  response: string | null;
}

/** A notification of a site with its delivery state, for the site's merchant. Dates as in C2. */
export interface Delivery {
  /**
   * UUID.
   * @schema uuid
   */
  id: string;
  /** Header `webhook-id` of every attempt (E8). */
  webhookId: string;
  /** `session`: to the notificationUrl of a session. `site`: to the webhook of the site (M6). */
  recipient: 'session' | 'site';
  /** `refund` and `dispute` only for the webhook of a site. */
  type: 'payment' | 'refund' | 'dispute';
  /** Null if the recipient is a site. */
  sessionId: string | null;
  paymentReference: string;
  paymentStatus: PaymentStatusText;
  url: string;
  state: DeliveryState;
  /** Number of attempts so far. */
  attemptCount: number;
  createdUTCDate: string;
  /** When the endpoint last acknowledged the notification. */
  deliveredUTCDate: string | null;
  /** Time of the next attempt; null while it is being sent and in all states but `pending`. */
  nextAttemptUTCDate: string | null;
  /** Missing keys, without which the notification cannot be signed and sent; null if no key is missing. */
  missingKeys: readonly ('api-key' | 'webhook-secret')[] | null;
  lastAttempt: DeliveryAttempt | null;
}

/** A page of deliveries, newest first, at most 50. */
export interface DeliveryPage {
  deliveries: Delivery[];
  /** Pass it as `after` to read the next page; absent on the last page. */
  after?: string;
  hasMore: boolean;
}

/** Response of `GET /deliveries`. */
export interface DeliveryList extends DeliveryPage {
  status: ResponseStatusText;
  errors: HostedError[];
}

/** One delivery with its attempts, newest first, at most 100. */
export interface DeliveryWithAttempts extends Delivery {
  attempts: DeliveryAttempt[];
}

/** Response of `GET /deliveries/{id}`. */
export interface DeliveryDetails extends DeliveryWithAttempts {
  status: ResponseStatusText;
  errors: HostedError[];
}
