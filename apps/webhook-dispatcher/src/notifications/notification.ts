import {
  ERROR_CATALOGUE,
  type ErrorEntry,
  type HostedPaymentNotification,
  type PaymentError,
  type PaymentSnapshot,
  type PaymentStatusText,
} from '@svc/contracts';

/**
 * A notification: what a merchant is told about one final payment of a hosted session.
 *
 * - `pending`: due at its time, or being sent.
 * - `delivered`: the endpoint answered 2xx.
 * - `superseded`: says Failed, and the session was paid before the endpoint acknowledged it (E2).
 * - `exhausted`: every try of the schedule failed (E5). Kept, replayable.
 * - `gone`: the endpoint answered 410. Kept, replayable.
 */
export const NOTIFICATION_STATES = ['pending', 'delivered', 'superseded', 'exhausted', 'gone'] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

/** The body without its signature, which is made anew at every try. */
export type NotificationFields = Omit<HostedPaymentNotification, 'signature'>;

const USER_MESSAGE_MAX = 500;
/** Said when a payment failed and nobody told why. */
const FALLBACK: ErrorEntry = ERROR_CATALOGUE.internal;

/** What the merchant is told about a final payment. Built once; every try sends these values. */
export function notificationFields(payment: PaymentSnapshot): NotificationFields {
  const paymentStatus = paymentStatusOf(payment);
  return {
    sessionId: payment.source.sessionId,
    amount: payment.amount,
    currencyISOCode: payment.currencyISOCode,
    merchantOrderId: payment.source.merchantOrderId,
    paymentReference: payment.paymentReference,
    paymentStatus,
    ...(paymentStatus === 'Success' ? {} : { userMessage: userMessage(payment.errors) }),
    paymentUTCDate: new Date(payment.paymentUTCDate).toISOString(),
    // The payment may have failed, the API call that the notification stands for did not (E2: so never `errors`).
    status: 'Success',
  };
}

export function paymentStatusOf(payment: PaymentSnapshot): PaymentStatusText {
  if (payment.state === 'success') return 'Success';
  if (payment.state === 'failed') return 'Failed';
  throw new Error(`A payment that is ${payment.state} is not final: nobody is notified of it.`);
}

/** Words for the payer: those of the first error, or the catalogue's for its reference. */
function userMessage(errors: readonly PaymentError[]): string {
  const first = errors[0];
  const told = first?.message.trim();
  if (told) return told.slice(0, USER_MESSAGE_MAX).toWellFormed();
  const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);
  return (entries.find((entry) => entry.errorReference === first?.errorReference) ?? FALLBACK).message;
}

/** Host and port that an address belongs to: what concurrency is bounded by. `invalid` when it is no address. */
export function endpointOf(url: string): string {
  if (!URL.canParse(url)) return 'invalid';
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
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
