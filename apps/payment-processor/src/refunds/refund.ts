import { createHash } from 'node:crypto';
import type { ErrorCode, PaymentMethodType, RefundStatus } from '@svc/contracts';
import type { RefundQueryResult } from '../acquirers/acquirer.js';

/**
 * Allowed state transitions of a refund (M5). `pending`: the refund may have happened. A pending refund reserves its
 * amount, and the acquirer is queried until the refund ends. A test compares this list with the trigger of the table.
 */
export const REFUND_TRANSITIONS = {
  pending: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<RefundStatus, readonly RefundStatus[]>;

/** The data that decides whether a payment can be refunded. Amounts in cents. */
export interface RefundablePayment {
  readonly paymentMethodType: PaymentMethodType;
  /** Amount that was charged to the payer, with the tip and without vouchers; 0 unless the payment succeeded (P6). */
  readonly processedAmount: number;
  readonly refundedAmount: number;
  /** Amount that pending refunds reserve. */
  readonly pendingAmount: number;
}

export type RefundRefusal = Extract<ErrorCode, 'refund.amount-exceeded' | 'refund.not-possible'>;

/** The maximum amount of a new refund, in cents. */
export function refundableAmount(payment: RefundablePayment): number {
  if (payment.paymentMethodType !== 'Card') return 0;
  return payment.processedAmount - payment.refundedAmount - payment.pendingAmount;
}

/**
 * Returns the reason why a refund is not possible; undefined when it is possible. Only charges of the acquirer can be
 * refunded: an external payment must be refunded externally, and a voucher is not money.
 */
export function findRefundRefusal(payment: RefundablePayment, amount: number): RefundRefusal | undefined {
  if (payment.paymentMethodType !== 'Card' || payment.processedAmount === 0) return 'refund.not-possible';
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
 * Time of the next query, after this number of queries. The queries never stop, because the refund may have happened.
 */
export function nextQueryAt(createdAt: Date, queries: number, now: Date): Date {
  const after = QUERY_AFTER_MS[queries];
  const at = after === undefined ? now.getTime() + QUERY_INTERVAL_MS : createdAt.getTime() + after;
  return new Date(Math.max(at, now.getTime()));
}

/**
 * True when a response at this age means that the acquirer has not received the refund. In this case the refund is
 * resent with the same key, so that the acquirer refunds only once even if the first call still arrives.
 */
export function isRefundMissing(response: RefundQueryResult, ageMs: number): boolean {
  return response.kind === 'notFound' && ageMs >= NOT_FOUND_FINAL_AFTER_MS;
}

/** The effect of a response on a refund. */
export type RefundConclusion =
  | { readonly kind: 'end'; readonly state: Exclude<RefundStatus, 'pending'>; readonly acquirerReference: string }
  /** The acquirer is queried again later. */
  | { readonly kind: 'queryAgain' }
  /** The response changes nothing. */
  | { readonly kind: 'none' }
  /** The response contradicts the row. */
  | { readonly kind: 'incident' };

/** Decides the effect of a response on a refund in this state. The unit test lists the effect of every pair. */
export function conclude(state: RefundStatus, response: RefundQueryResult): RefundConclusion {
  if (response.kind !== 'succeeded' && response.kind !== 'declined')
    return { kind: state === 'pending' ? 'queryAgain' : 'none' };
  const end = response.kind === 'succeeded' ? 'succeeded' : 'failed';
  if (state === 'pending') return { kind: 'end', state: end, acquirerReference: response.acquirerReference };
  return { kind: state === end ? 'none' : 'incident' };
}

/** Fingerprint that detects the reuse of an Idempotency-Key with a different request (C7). */
export function computeFingerprint(paymentReference: string, amount: number, reason: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([paymentReference, amount, reason ?? null]))
    .digest('hex');
}
