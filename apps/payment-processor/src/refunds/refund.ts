import { createHash } from 'node:crypto';
import type { ErrorCode, PaymentMethodType, RefundStatus } from '@svc/contracts';
import type { RefundQueryResult } from '../acquirers/acquirer.js';

/**
 * Allowed state transitions of a refund (M5). `pending`: the refund may have happened. A pending refund reserves its
 * amount, and the acquirer is queried until the refund ends. A refund that succeeded fails when its money comes back,
 * days later. A test compares this list with the trigger of the table.
 */
export const REFUND_TRANSITIONS = {
  pending: ['succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
} as const satisfies Record<RefundStatus, readonly RefundStatus[]>;

/** The state of a refund, and whether its money came back after it had succeeded. */
export type RefundState = RefundStatus | 'returned';

/** A response of the acquirer about a refund, or its own report. `returned`: the money came back. */
export type AcquirerRefundResponse =
  RefundQueryResult | { readonly kind: 'returned'; readonly acquirerReference: string };

/** The data that decides whether a payment can be refunded. Amounts in cents. */
export interface RefundablePayment {
  readonly paymentMethodType: PaymentMethodType;
  /** Amount that was charged to the payer, with the tip and without vouchers; 0 unless the payment succeeded (P6). */
  readonly processedAmount: number;
  readonly refundedAmount: number;
  /** Amount that pending refunds reserve. */
  readonly pendingAmount: number;
  /** Whether the acquirer has taken the money. */
  readonly capture: CaptureProgress;
}

/** `open`: the capture is not confirmed yet. An acquirer that does not capture separately has captured with the charge. */
export type CaptureProgress = 'open' | 'captured' | 'failed';

export type RefundRefusal = Extract<ErrorCode, 'refund.amount-exceeded' | 'refund.not-possible'>;

/** The maximum amount of a new refund, in cents. */
export function refundableAmount(payment: RefundablePayment): number {
  if (payment.paymentMethodType !== 'Card' || payment.capture === 'failed') return 0;
  return payment.processedAmount - payment.refundedAmount - payment.pendingAmount;
}

/** The payment as a caller may refund it, whose refunds of it may be at most `maxRefundedAmount` cents together. */
export function limitRefunds<P extends RefundablePayment>(payment: P, maxRefundedAmount = Infinity): P {
  const { processedAmount, refundedAmount, pendingAmount } = payment;
  // Nothing is left if earlier refunds exceed the limit of this caller.
  const limit = Math.max(maxRefundedAmount, refundedAmount + pendingAmount);
  return { ...payment, processedAmount: Math.min(processedAmount, limit) };
}

/**
 * Returns the reason why a refund is not possible; undefined when it is possible. Only charges of the acquirer can be
 * refunded: an external payment must be refunded externally, and a voucher is not money.
 */
export function findRefundRefusal(payment: RefundablePayment, amount: number): RefundRefusal | undefined {
  const isCharged = payment.paymentMethodType === 'Card' && payment.processedAmount > 0;
  if (!isCharged || payment.capture === 'failed') return 'refund.not-possible';
  return amount > refundableAmount(payment) ? 'refund.amount-exceeded' : undefined;
}

/**
 * Ages of a refund at which the recovery job queries the acquirer. After the last age it queries every {@link
 * QUERY_INTERVAL_MS}.
 */
export const QUERY_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
export const QUERY_INTERVAL_MS = 300_000;
/** Before this age, the response `notFound` can mean that the acquirer has not received the call yet. */
export const NOT_FOUND_FINAL_AFTER_MS = 10_000;
/**
 * An acquirer that answers no queries refunds once under a key only while it remembers the key, which is 7 days or more.
 * A refund of this age is not sent again, because it could then refund twice.
 */
export const RESEND_LIMIT_MS = 6 * 86_400_000;

/**
 * An acquirer that answers no queries reports the outcome of a refund that it has received. A refund without a report at
 * this age is an incident. It is longer than a long weekend without settlement.
 */
export const REPORT_OVERDUE_MS = 5 * 86_400_000;

/**
 * Time of the next query, after this number of queries. The queries never stop, because the refund may have happened.
 */
export function nextQueryAt(createdAt: Date, queries: number, now: Date): Date {
  const after = QUERY_AFTER_MS[queries];
  const at = after === undefined ? now.getTime() + QUERY_INTERVAL_MS : createdAt.getTime() + after;
  return new Date(Math.max(at, now.getTime()));
}

/** When a refund could be sent: at its creation, or when its charge was captured, also if the capture failed later. */
export interface SendableSince {
  readonly createdAt: Date;
  /** Undefined if the acquirer captures with the charge, and while the charge is not captured. */
  readonly capturedAt: Date | undefined;
}

/** Age of a refund since it could first be sent. */
export function sendableMs({ createdAt, capturedAt = createdAt }: SendableSince, now: Date): number {
  return now.getTime() - Math.max(createdAt.getTime(), capturedAt.getTime());
}

/**
 * True when a response means that the acquirer has not received the refund. In this case the refund is resent with the
 * same key, so that the acquirer refunds only once even if the first call still arrives. A refund that was created before
 * its charge was captured was not sent at its creation.
 */
export function isRefundMissing(response: AcquirerRefundResponse, refund: SendableSince, now: Date): boolean {
  if (response.kind !== 'notFound') return false;
  const { createdAt, capturedAt = createdAt } = refund;
  return capturedAt > createdAt || sendableMs(refund, now) >= NOT_FOUND_FINAL_AFTER_MS;
}

/** The effect of a response on a refund. */
export type RefundConclusion =
  | { readonly kind: 'end'; readonly state: Exclude<RefundStatus, 'pending'>; readonly acquirerReference: string }
  /** The money came back. A pending refund first ends as succeeded, so that the order of two reports does not matter. */
  | { readonly kind: 'return'; readonly acquirerReference: string }
  /** The acquirer is queried again later. */
  | { readonly kind: 'queryAgain' }
  /** The refund is not sent again. Only the acquirer's own report ends it. */
  | { readonly kind: 'stop' }
  /** The response changes nothing. */
  | { readonly kind: 'none' }
  /** The response contradicts the row. */
  | { readonly kind: 'incident' };

/** Decides the effect of a response on a refund in this state. The unit test lists the effect of every pair. */
export function conclude(state: RefundState, response: AcquirerRefundResponse): RefundConclusion {
  if (response.kind === 'returned') {
    if (state === 'returned') return { kind: 'none' };
    return state === 'failed'
      ? { kind: 'incident' }
      : { kind: 'return', acquirerReference: response.acquirerReference };
  }
  if (response.kind === 'uncertain') return { kind: state === 'pending' ? 'stop' : 'none' };
  if (response.kind !== 'succeeded' && response.kind !== 'declined')
    return { kind: state === 'pending' ? 'queryAgain' : 'none' };
  const end = response.kind === 'succeeded' ? 'succeeded' : 'failed';
  if (state === 'pending') return { kind: 'end', state: end, acquirerReference: response.acquirerReference };
  const isConsistent = state === end || (state === 'returned' && end === 'succeeded');
  return { kind: isConsistent ? 'none' : 'incident' };
}

/** Fingerprint that detects the reuse of an Idempotency-Key with a different request (C7). */
export function computeFingerprint(paymentReference: string, amount: number, reason: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([paymentReference, amount, reason ?? null]))
    .digest('hex');
}
