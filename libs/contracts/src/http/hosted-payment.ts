import type { PaymentStatusText, ResponseStatusText } from '../payment-status.js';
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
  /** What to tell the payer; only when paymentStatus is not Success. */
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
