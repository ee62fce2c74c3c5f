import type { PaymentStatusText, ResponseStatusText } from '../../payment-status.js';
import type { HostedError } from './hosted-session.js';

/**
 * - `pending`: due at its time, or being sent.
 * - `delivered`: the endpoint answered 2xx.
 * - `superseded`: says Failed, and the session was paid before the endpoint acknowledged it (E2).
 * - `exhausted`: every attempt of the schedule failed (E5). Kept; can be sent again.
 * - `gone`: the endpoint answered 410. Kept; can be sent again.
 */
export const DELIVERY_STATES = ['pending', 'delivered', 'superseded', 'exhausted', 'gone'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One attempt, and what the endpoint answered. */
export interface DeliveryAttempt {
  /** From 1. */
  attemptNumber: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  startedUTCDate: string;
  /** Milliseconds until the answer had been read, or was given up. */
  durationMs: number;
  /** `acknowledged`: 2xx. `refused`: another status. `unanswered`: none, see errorClass. */
  outcome: 'acknowledged' | 'refused' | 'unanswered';
  statusCode: number | null;
  /** e.g. `timeout`, `connection-refused`, `address-unavailable`: the host has no address, or none that is accepted. */
  errorClass: string | null;
  /** The beginning of the answer: 200 characters in a list, 2000 of one delivery. */
  answer: string | null;
}

/** A notification of a site, and whether its endpoint acknowledged it, as the site's merchant sees it. Dates as in C2. */
export interface Delivery {
  /** UUID. */
  id: string;
  /** Header `webhook-id` of every attempt (E8). */
  webhookId: string;
  /** `session`: to the notificationUrl of a session. `site`: to the webhook of the site (M6). */
  recipient: 'session' | 'site';
  /** `refund` only to a site. */
  type: 'payment' | 'refund';
  /** Null unless the recipient is a session. */
  sessionId: string | null;
  paymentReference: string;
  paymentStatus: PaymentStatusText;
  url: string;
  state: DeliveryState;
  /** Attempts ever made. */
  attemptCount: number;
  createdUTCDate: string;
  /** When the endpoint last acknowledged it. */
  deliveredUTCDate: string | null;
  /** When the next attempt is due; null while it is being sent, and unless pending. */
  nextAttemptUTCDate: string | null;
  /** Which keys are missing, so that it is not signed and not sent; null otherwise. */
  missingKeys: readonly ('api-key' | 'webhook-secret')[] | null;
  lastAttempt: DeliveryAttempt | null;
}

/** A page of deliveries, newest first, at most 50. */
export interface DeliveryPage {
  deliveries: Delivery[];
  /** Pass it as `after` for the next page; absent on the last. */
  after?: string;
  hasMore: boolean;
}

/** Answer of `GET /deliveries`. */
export interface DeliveryList extends DeliveryPage {
  status: ResponseStatusText;
  errors: HostedError[];
}

/** One delivery with its attempts, newest first, at most 100. */
export interface DeliveryWithAttempts extends Delivery {
  attempts: DeliveryAttempt[];
}

/** Answer of `GET /deliveries/{id}`. */
export interface DeliveryDetails extends DeliveryWithAttempts {
  status: ResponseStatusText;
  errors: HostedError[];
}
