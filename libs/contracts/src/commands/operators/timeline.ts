import type { Mode } from '../../events/credentials.js';
import { commandType } from '../../events/envelope.js';
import type { PayableSource } from '../../events/payments.js';
import type { DeliveryWithAttempts } from '../../http/hosted-gateway/deliveries.js';

/** A fact about a step, for example the acquirer's reference. */
export interface TimelineDetail {
  name: string;
  value: string;
}

/** One thing that happened to a payment, a session or an invoice, in words for operators. Contains no card data. */
export interface TimelineStep {
  /**
   * ISO 8601 UTC with milliseconds.
   * @schema date-time
   */
  utcDate: string;
  /** For example `acquirer called`. */
  event: string;
  /** Cents. */
  amount?: number;
  details: TimelineDetail[];
  /** The trace of the request, 32 hexadecimal digits. Absent if telemetry was off, or no trace is stored. */
  traceId?: string;
  /** The id of the request that the merchant's server sent. */
  requestId?: string;
  /** Present while the step has no outcome yet. */
  isOpen?: true;
}

/** A payment, or a session or invoice without a payment, that an operator has searched. */
export interface TimelineSubject {
  kind: 'payment' | 'session' | 'invoice';
  /** The payment reference; without a payment the UUID of the session or invoice. */
  reference: string;
  /**
   * When it was created. ISO 8601 UTC with milliseconds.
   * @schema date-time
   */
  utcDate: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  /** Cents, with the tip. */
  amount: number;
  currencyISOCode: string;
  /** The state of the payment or of the payable. */
  state: string;
  /** The order number of a session, or the external reference of an invoice; empty if there is none. */
  orderReference: string;
  /**
   * UUID of the session or invoice.
   * @schema uuid
   */
  payableId: string;
  source: PayableSource['kind'];
  /** The 20 digits of the code (D5). */
  code: string;
}

/** Exactly one of the members. */
export interface FindPayments {
  paymentReference?: string;
  /**
   * UUID of a session or an invoice.
   * @schema uuid
   */
  payableId?: string;
  /** The 20 digits of the code (D5). */
  code?: string;
}

/** A change of a dispute, from which the id of its notification is derived. */
export interface TracedDisputeChange {
  changeReference: string;
  changedUTCDate: string;
}

export interface TracedPayment {
  steps: TimelineStep[];
  /** Oldest first, at most 100. */
  disputeChanges: TracedDisputeChange[];
}

/** A session or an invoice, by its id or its code. */
export interface TracePayable {
  /**
   * UUID.
   * @schema uuid
   */
  payableId?: string;
  /** The 20 digits of the code (D5). */
  code?: string;
}

export interface TracedPayable {
  subject: TimelineSubject;
  steps: TimelineStep[];
}

/** Maximum number of notifications of one request. */
export const MAX_TRACED_DELIVERIES = 500;

export interface TracedDelivery extends DeliveryWithAttempts {
  /** The trace of the event that caused the notification. Each attempt belongs to it. Null if telemetry was off. */
  traceId: string | null;
}

/*
 * The commands below go from the console to the owners of the data, while an operator waits for the timeline of a
 * payment. They are for operators of the platform, so they need no merchant.
 */
/** console → payment-processor: at most 20 payments, newest first, also payments without an outcome. */
export const FindPaymentsV1 = commandType<FindPayments, { payments: TimelineSubject[] }>('find-payments.v1');
/** console → payment-processor. Refused with `resource.not-found`. */
export const TracePaymentV1 = commandType<{ paymentReference: string }, TracedPayment>('trace-payment.v1');
/** console → hosted-gateway. The reply has no session if there is none. */
export const TraceSessionV1 = commandType<TracePayable, { session?: TracedPayable }>('trace-session.v1');
/** console → code-decoder. The reply has no invoice if there is none. */
export const TraceInvoiceV1 = commandType<TracePayable, { invoice?: TracedPayable }>('trace-invoice.v1');
/** console → webhook-dispatcher: the existing ones of at most 500 notifications (UUIDs), in the order of their creation. */
export const TraceDeliveriesV1 = commandType<{ ids: string[] }, { deliveries: TracedDelivery[] }>(
  'trace-deliveries.v1',
);
