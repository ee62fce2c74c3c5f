import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { DeliveryPage, DeliveryState, DeliveryWithAttempts } from '../http/hosted-gateway/deliveries.js';

/** The requesting site and mode: it can read and change only its own deliveries. */
export interface DeliveryOwner {
  merchantId: number;
  siteId: number;
  mode: Mode;
}

export interface ListDeliveries {
  owner: DeliveryOwner;
  state?: DeliveryState;
  /** Only deliveries older than the delivery with this id (UUID) are returned. */
  after?: string;
  /** ISO 8601 UTC: only deliveries of payments, refunds and disputes from this time on. */
  from?: string;
  /** ISO 8601 UTC: only deliveries before this time. */
  until?: string;
}

export interface DeliveryRequest {
  owner: DeliveryOwner;
  /**
   * UUID.
   * @schema uuid
   */
  id: string;
}

export interface ResendDelivery extends DeliveryRequest {
  /**
   * UUID. The repeat of a request has the same id and has no further effect.
   * @schema uuid
   */
  requestId?: string;
  /**
   * The person who sends it again, for the audit log; only with a `requestId`. Absent: the merchant's server.
   * @schema uuid
   */
  personId?: string;
}

/** The sites of one merchant whose undelivered webhooks are counted, of payments, refunds and disputes from a time on. */
export interface CountUndelivered {
  merchantId: number;
  mode: Mode;
  /** At most {@link MAX_COUNTED_SITES}. */
  siteIds: number[];
  /** @schema date-time */
  from: string;
}

/** The webhooks of a site that were given up. */
export interface UndeliveredCount {
  siteId: number;
  state: Extract<DeliveryState, 'exhausted' | 'gone'>;
  /** From 1 to {@link MAX_UNDELIVERED_COUNT}, which means at least so many. */
  count: number;
}

/** As many as a merchant has. */
export const MAX_COUNTED_SITES = 1_000;
export const MAX_UNDELIVERED_COUNT = 100;

/** The request of an attempt, signed with the keys that are valid now, at the time of the last attempt. */
export interface DeliveryContent {
  /** JSON, as it was sent. */
  body: string;
  /** Without `webhook-signature` while a key is missing. */
  headers: { name: string; value: string }[];
}

export interface SendTestWebhook {
  owner: DeliveryOwner;
  /**
   * UUID, the `webhook-id` of the message.
   * @schema uuid
   */
  id: string;
}

/** A test message for the webhook of a site. Its `type` is different from the types of payments, refunds and disputes. */
export interface TestNotification {
  type: 'test';
  siteId: number;
  mode: Mode;
  /** ISO 8601 UTC with milliseconds. */
  sentUTCDate: string;
}

/** The result of a test message: its request, and the answer of the endpoint. */
export interface TestWebhookResult extends DeliveryContent {
  url: string;
  /** Milliseconds until the answer was read, or the attempt was aborted. */
  durationMs: number;
  /** Null if the endpoint did not answer: see errorClass. */
  statusCode: number | null;
  /** As in a {@link DeliveryAttempt}. */
  errorClass: string | null;
  hint: string | null;
  /** The beginning of the answer, at most 2000 characters. */
  response: string | null;
}

/*
 * The commands below go from hosted-gateway or the console to webhook-dispatcher, while a merchant waits for the response (ADR 61).
 * Only webhook-dispatcher stores the attempts and the signing keys, but it has no public API.
 */
export const ListDeliveriesV1 = commandType<ListDeliveries, DeliveryPage>('list-deliveries.v1');
/** Refused with `resource.not-found`. */
export const GetDeliveryV1 = commandType<DeliveryRequest, DeliveryWithAttempts>('get-delivery.v1');
/** Refused with `resource.not-found`, `resource.conflict`, or `request.rate-limited` shortly after the last resend. */
export const ResendDeliveryV1 = commandType<ResendDelivery, { due: true }>('resend-delivery.v1');
/** For the console's page of today. Sites without such webhooks are absent. */
export const CountUndeliveredV1 = commandType<CountUndelivered, { counts: UndeliveredCount[] }>('count-undelivered.v1');
/** The body and the headers of a delivery. Refused with `resource.not-found`. */
export const GetDeliveryContentV1 = commandType<DeliveryRequest, DeliveryContent>('get-delivery-content.v1');
/**
 * Sends a signed test message to the webhook of the site, even while it is disabled. It is not stored and not repeated.
 * Refused with `resource.not-found` if the site has no address, with `resource.conflict` if it has no webhook secret, and
 * with `request.rate-limited` shortly after the last test of the site.
 */
export const SendTestWebhookV1 = commandType<SendTestWebhook, TestWebhookResult>('send-test-webhook.v1');
