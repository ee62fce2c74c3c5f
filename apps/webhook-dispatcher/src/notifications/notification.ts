import {
  DELIVERY_STATES,
  type DeliveryState,
  type HostedApiVersion,
  type Mode,
  type NotificationFields,
  type PaymentNotification,
  type PaymentStatusText,
} from '@svc/contracts';

/**
 * States of a notification. A notification is one message about one payment to one recipient. Merchants see it as a
 * delivery with the same state.
 */
export const NOTIFICATION_STATES = DELIVERY_STATES;
export type NotificationState = DeliveryState;

/**
 * The recipient of a notification and the fields of its body. The recipient is the notificationUrl of a session (E2) or
 * the webhook of a site (M6).
 */
export type NotificationContent =
  | {
      readonly recipient: 'session';
      readonly type: 'payment';
      readonly apiVersion: HostedApiVersion;
      /** Without the signature, because each attempt signs the fields with the keys that are valid at that time. */
      readonly fields: NotificationFields;
    }
  | {
      readonly recipient: 'site';
      readonly type: PaymentNotification['type'];
      readonly apiVersion: null;
      readonly fields: PaymentNotification;
    };

export type Recipient = NotificationContent['recipient'];

/** A notification before it is recorded. */
export type NewNotification = NotificationContent & {
  /** UUID of the row. */
  readonly id: string;
  /** Header `webhook-id`, the same in every attempt (E8). */
  readonly webhookId: string;
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  /** Null for a site, because only notifications of a session can be superseded (E2, M6). */
  readonly sessionId: string | null;
  readonly paymentReference: string;
  readonly paymentStatus: PaymentStatusText;
  readonly url: string;
  readonly endpoint: string;
  /** Trace context of the payment (W3C). */
  readonly traceparent: string | null;
};

/** The length of the longest DNS name (253), a colon and a port of five digits. */
const MAX_ENDPOINT_LENGTH = 259;

/**
 * Returns the host and port of a URL, or `invalid` for an invalid URL. Concurrency limits and circuits apply to this
 * host and port.
 */
export function parseEndpoint(url: string): string {
  if (!URL.canParse(url)) return 'invalid';
  const { protocol, hostname, port } = new URL(url);
  const endpoint = `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  return endpoint.length > MAX_ENDPOINT_LENGTH ? 'invalid' : endpoint;
}

interface ReplayCandidate {
  readonly state: NotificationState;
  readonly paymentStatus: PaymentStatusText;
  /** True while a worker may be sending the notification. */
  readonly leased: boolean;
  /** True if the notification of a successful payment of the same session is recorded. */
  readonly sessionSucceeded: boolean;
}

/** Returns the reason why a notification cannot be replayed, or undefined when it can. */
export function replayConflict({
  state,
  paymentStatus,
  leased,
  sessionSucceeded,
}: ReplayCandidate): string | undefined {
  if (state === 'superseded' || (paymentStatus === 'Failed' && sessionSucceeded)) {
    return 'The session has been paid: a failure can no longer be sent.';
  }
  if (leased) return 'It is being sent.';
  return undefined;
}
