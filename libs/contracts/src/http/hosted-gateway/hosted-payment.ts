import { ERROR_CATALOGUE, type ErrorEntry, type PaymentError } from '../../errors.js';
import type { PaymentSnapshot } from '../../events/payments.js';
import type { PaymentStatusText, ResponseStatusText } from '../../payment-status.js';
import type { HostedError } from './hosted-session.js';

/**
 * One final payment of a hosted session: the webhook model without its signature, and the masked payment method
 * (H3). Answer of `GET /payments/{paymentReference}` and element of `GET /payments`.
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
  /** What to tell the payer, at most 500 characters; only when paymentStatus is not Success (E2). */
  userMessage?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  status: ResponseStatusText;
  /** Present when status is not Success (E2). */
  errors?: HostedError[];
  /** Masked label, e.g. `**** 4242` (P9). */
  paymentMethod: string;
}

/** Answer of `GET /payments?sessionId=` (H3): the final payments of a session, failed ones included. */
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

/** The body of the webhook without its signature, which needs a key: what the feed of notifications shows. */
export type NotificationFields = Omit<HostedPaymentNotification, 'signature'>;

/** One notification in the feed (E8). */
export interface FeedNotification {
  /** UUID: the `webhook-id` of every delivery of this notification. */
  id: string;
  notification: NotificationFields;
}

/** Answer of `GET /notifications`: what a site's endpoint was or should have been told, oldest first. */
export interface NotificationFeed {
  notifications: FeedNotification[];
  /** Opaque. Pass it as `after` to go on from here, now or at any later time; absent where nothing was ever to tell. */
  after?: string;
  /** More can be read at once. */
  hasMore: boolean;
  status: ResponseStatusText;
  errors: HostedError[];
}

/** Whether a payment is over (P1): only then is it shown to merchants (H3) and are they notified of it (E2). */
export function isFinal(payment: Pick<PaymentSnapshot, 'state'>): boolean {
  return payment.state === 'success' || payment.state === 'failed';
}

/**
 * A final payment in the words of merchants (H3, H4). Here because two services say it, one when asked and one in the
 * webhook, and a merchant compares the two. Throws for a payment that is not final.
 */
export function hostedPaymentOf(payment: PaymentSnapshot): HostedPayment {
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

/** What the merchant is told about a final payment, in the webhook and in the feed. */
export function notificationFields(payment: PaymentSnapshot): NotificationFields {
  const { paymentMethod: _, ...fields } = hostedPaymentOf(payment);
  return fields;
}

const USER_MESSAGE_MAX = 500;
/** Said when a payment failed and nobody told why. */
const FALLBACK: ErrorEntry = ERROR_CATALOGUE.internal;

/** Words for the payer: those of the first error, or the catalogue's for its reference. */
function userMessage(errors: readonly PaymentError[]): string {
  const first = errors[0];
  const told = first?.message.trim();
  if (told) return told.slice(0, USER_MESSAGE_MAX).toWellFormed();
  const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);
  return (entries.find((entry) => entry.errorReference === first?.errorReference) ?? FALLBACK).message;
}
