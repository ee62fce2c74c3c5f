import {
  DELIVERY_STATES,
  type DeliveryState,
  type HostedApiVersion,
  type NotificationFields,
  type PaymentNotice,
  type PaymentStatusText,
} from '@svc/contracts';

/** A notification is one message about one payment to one recipient. Merchants see the same states. */
export const NOTIFICATION_STATES = DELIVERY_STATES;
export type NotificationState = DeliveryState;

/**
 * The recipient of a notification, and its body. The recipient is a session's notificationUrl (E2) or a site's webhook
 * (M6).
 */
export type NotificationContent =
  | {
      readonly recipient: 'session';
      readonly apiVersion: HostedApiVersion;
      /** Without the signature: each attempt signs them with the keys that are valid at that time. */
      readonly fields: NotificationFields;
    }
  | { readonly recipient: 'site'; readonly apiVersion: null; readonly fields: PaymentNotice };

export type Recipient = NotificationContent['recipient'];

/** The longest DNS name, with a port. The table rejects longer endpoints. */
const MAX_ENDPOINT_LENGTH = 259;

/** Returns host and port of a URL, which concurrency limits and circuits apply to; `invalid` for an invalid URL. */
export function parseEndpoint(url: string): string {
  if (!URL.canParse(url)) return 'invalid';
  const { protocol, hostname, port } = new URL(url);
  const endpoint = `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  return endpoint.length > MAX_ENDPOINT_LENGTH ? 'invalid' : endpoint;
}

export interface ReplayCandidate {
  readonly state: NotificationState;
  readonly paymentStatus: PaymentStatusText;
  /** A worker may be sending it. */
  readonly leased: boolean;
  /** A Success of the same session is recorded. */
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
