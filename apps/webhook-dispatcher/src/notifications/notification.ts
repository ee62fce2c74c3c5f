import {
  DELIVERY_STATES,
  type DeliveryState,
  type HostedApiVersion,
  type NotificationFields,
  type PaymentNotice,
  type PaymentStatusText,
} from '@svc/contracts';

/** A notification is one message about one payment to one recipient. Its merchant sees these states too. */
export const NOTIFICATION_STATES = DELIVERY_STATES;
export type NotificationState = DeliveryState;

/** The notificationUrl of a payment's session (E2), or the webhook of its site (M6), and the body for it. */
export type NotificationContent =
  | {
      readonly recipient: 'session';
      readonly apiVersion: HostedApiVersion;
      /** Without its signature, which a key of the time of the try makes. */
      readonly fields: NotificationFields;
    }
  | { readonly recipient: 'site'; readonly apiVersion: null; readonly fields: PaymentNotice };

export type Recipient = NotificationContent['recipient'];

/** The longest name that DNS knows, and a port. What is longer leads nowhere, and its row would be refused. */
const ENDPOINT_MAX_LENGTH = 259;

/** Host and port that an address belongs to: with the merchant, what concurrency and circuits are about. `invalid` when it is no address. */
export function endpointOf(url: string): string {
  if (!URL.canParse(url)) return 'invalid';
  const { protocol, hostname, port } = new URL(url);
  const endpoint = `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  return endpoint.length > ENDPOINT_MAX_LENGTH ? 'invalid' : endpoint;
}

export interface ReplayCandidate {
  readonly state: NotificationState;
  readonly paymentStatus: PaymentStatusText;
  /** A worker may be sending it right now. */
  readonly leased: boolean;
  /** A success of the same session is known here. */
  readonly sessionSucceeded: boolean;
}

/** Why a notification may not be sent again from the beginning of its schedule, or undefined when it may. */
export function replayRefusal({ state, paymentStatus, leased, sessionSucceeded }: ReplayCandidate): string | undefined {
  if (state === 'superseded' || (paymentStatus === 'Failed' && sessionSucceeded)) {
    return 'The session was paid since: its merchant must not be told of a failure any more.';
  }
  if (leased) return 'It is being sent right now.';
  return undefined;
}
