import { ERROR_CATALOGUE, type ErrorEntry, type PaymentError } from '../../errors.js';
import type { HostedPaymentSnapshot, HostedSessionSource } from '../../events/payments.js';
import type { PaymentStatusText, ResponseStatusText } from '../../payment-status.js';
import type { HostedError } from './hosted-session.js';

/**
 * One final payment of a hosted session (H3): the model of the webhook without the signature, and with the masked
 * payment method. Response of `GET /payments/{paymentReference}` and element of `GET /payments`.
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

/** The body of the webhook without the signature. The feed of notifications contains it. */
export type NotificationFields = Omit<HostedPaymentNotification, 'signature'>;

/** One notification in the feed (E8). */
interface FeedNotification {
  /**
   * UUID: the `webhook-id` of every delivery of this notification.
   * @schema uuid
   */
  id: string;
  notification: NotificationFields;
}

/** Response of `GET /notifications`: the site's notifications, delivered or not, oldest first. */
export interface NotificationFeed {
  notifications: FeedNotification[];
  /**
   * Opaque cursor. Pass it as `after` to continue from here at any later time; absent if there are no notifications at
   * all.
   */
  after?: string;
  /** Whether more notifications can be read immediately. */
  hasMore: boolean;
  status: ResponseStatusText;
  errors: HostedError[];
}

/**
 * Whether a payment is final (P1). Merchants can read only final payments (H3), and receive notifications only of them
 * (E2).
 */
export function isFinal(payment: Pick<HostedPaymentSnapshot, 'state'>): boolean {
  return payment.state === 'success' || payment.state === 'failed';
}

/** The members of a final payment of a session from which the models for its merchant are built. */
type FinalHostedPayment = Pick<
  HostedPaymentSnapshot,
  'state' | 'amount' | 'currencyISOCode' | 'paymentReference' | 'errors' | 'paymentUTCDate' | 'paymentMethodLabel'
> & { source: Pick<HostedSessionSource, 'sessionId' | 'merchantOrderId'> };

/**
 * Converts a final payment to the merchant's model (H3, H4). Two services use this function, one for its API and one
 * for the webhook, because a merchant compares the API's response with the webhook. Throws for a payment that is not
 * final.
 */
export function buildHostedPayment(payment: FinalHostedPayment): HostedPayment {
  if (!isFinal(payment)) throw new Error(`A payment that is ${payment.state} is not final.`);
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
    // The status of the API call, which has succeeded even if the payment failed. Therefore `errors` is absent (E2).
    status: 'Success',
    paymentMethod: payment.paymentMethodLabel,
  };
}

/** The fields of a notification about a final payment, in the webhook and in the feed. */
export function notificationFields(payment: FinalHostedPayment): NotificationFields {
  const { paymentMethod: _, ...fields } = buildHostedPayment(payment);
  return fields;
}

const MAX_USER_MESSAGE_LENGTH = 500;
/** Used if a payment failed without an error of the catalogue. */
const FALLBACK: ErrorEntry = ERROR_CATALOGUE.internal;

/**
 * Message for the payer: the message of the first error. If this message is empty, the catalogue's message for the
 * errorReference is used.
 */
function userMessage(errors: readonly PaymentError[]): string {
  const firstError = errors[0];
  const message = firstError?.message.trim();
  if (message) return message.slice(0, MAX_USER_MESSAGE_LENGTH).toWellFormed();
  const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);
  return (entries.find((entry) => entry.errorReference === firstError?.errorReference) ?? FALLBACK).message;
}
