import { ERROR_CATALOGUE, type ErrorEntry, type PaymentError } from '../../errors.js';
import type { HostedPaymentSnapshot } from '../../events/payments.js';
import type { PaymentStatusText, ResponseStatusText } from '../../payment-status.js';
import type { HostedError } from './hosted-session.js';

/**
 * One final payment of a hosted session: the webhook model without its signature, with the masked payment method (H3). Response
 * of `GET /payments/{paymentReference}` and element of `GET /payments`.
 */
export interface HostedPayment {
  sessionId: string;
  /** Cents. */
  amount: number;
  /** ISO 4217; only `ZAR`. */
  currencyISOCode: string;
  merchantOrderId: string;
  /** Service payment id, 18 characters (C3). */
  paymentReference: string;
  paymentStatus: PaymentStatusText;
  /** Message for the payer, at most 500 characters; only when paymentStatus is not Success (E2). */
  userMessage?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  status: ResponseStatusText;
  /** Present when status is not Success (E2). */
  errors?: HostedError[];
  /** Masked label, e.g. `**** 4242` (P9). */
  paymentMethod: string;
}

/** Response of `GET /payments?sessionId=` (H3): the final payments of a session, including failed ones. */
export interface HostedPaymentList {
  payments: HostedPayment[];
  status: ResponseStatusText;
  errors: HostedError[];
}

/** Body of the webhook (specification, "Payment notification webhook model"; E2, E3, H4). */
export interface HostedPaymentNotification extends Omit<HostedPayment, 'paymentMethod'> {
  /** Lower-case hex SHA-256 over nine fields and an API key (E3). */
  signature: string;
}

/** The body of the webhook without its signature, which needs a key. Used in the feed of notifications. */
export type NotificationFields = Omit<HostedPaymentNotification, 'signature'>;

/** One notification in the feed (E8). */
export interface FeedNotification {
  /** UUID: the `webhook-id` of every delivery of this notification. */
  id: string;
  notification: NotificationFields;
}

/** Response of `GET /notifications`: the site's notifications, delivered or not, oldest first. */
export interface NotificationFeed {
  notifications: FeedNotification[];
  /** Opaque cursor. Pass it as `after` to continue from here at any later time; absent if there are no notifications at all. */
  after?: string;
  /** More can be read immediately. */
  hasMore: boolean;
  status: ResponseStatusText;
  errors: HostedError[];
}

/** Whether a payment is final (P1): only then merchants see it (H3) and are notified (E2). */
export function isFinal(payment: Pick<HostedPaymentSnapshot, 'state'>): boolean {
  return payment.state === 'success' || payment.state === 'failed';
}

/**
 * Maps a final payment to the merchant's model (H3, H4). Shared, because two services return it (one in its API, one in the
 * webhook), and a merchant compares the two. Throws for a payment that is not final.
 */
export function hostedPaymentOf(payment: HostedPaymentSnapshot): HostedPayment {
  if (!isFinal(payment)) throw new Error(`A payment that is ${payment.state} is not final: nobody is told of it.`);
  const success = payment.state === 'success';
  return {
    sessionId: payment.source.sessionId,
    amount: payment.amount,
    currencyISOCode: payment.currencyISOCode,
    merchantOrderId: payment.source.merchantOrderId,
    paymentReference: payment.paymentReference,
    paymentStatus: success ? 'Success' : 'Failed',
    ...(success ? {} : { userMessage: userMessage(payment.errors) }),
    paymentUTCDate: new Date(payment.paymentUTCDate).toISOString(),
    // The payment may have failed, the API call did not (E2: so never `errors`).
    status: 'Success',
    paymentMethod: payment.paymentMethodLabel,
  };
}

/** The fields of a notification about a final payment, in the webhook and in the feed. */
export function notificationFields(payment: HostedPaymentSnapshot): NotificationFields {
  const { paymentMethod: _, ...fields } = hostedPaymentOf(payment);
  return fields;
}

const MAX_USER_MESSAGE_LENGTH = 500;
/** Used when a payment failed without an error. */
const FALLBACK: ErrorEntry = ERROR_CATALOGUE.internal;

/** Message for the payer: that of the first error, or the catalogue's message for its reference. */
function userMessage(errors: readonly PaymentError[]): string {
  const first = errors[0];
  const told = first?.message.trim();
  if (told) return told.slice(0, MAX_USER_MESSAGE_LENGTH).toWellFormed();
  const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);
  return (entries.find((entry) => entry.errorReference === first?.errorReference) ?? FALLBACK).message;
}
