import { createHash } from 'node:crypto';
import type { ErrorCode, PaymentMethodType, RefundStatus } from '@svc/contracts';
import type { RefundQueryResult } from '../acquirers/acquirer.js';

/**
 * A refund: money of a successful card payment that the acquirer returns (M5). `pending` may have happened: it reserves its amount,
 * and the acquirer is queried about it until it ends. A test compares the list with the trigger of the table.
 */
export const REFUND_TRANSITIONS = {
  pending: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<RefundStatus, readonly RefundStatus[]>;

/** The data that decides if a payment can be refunded. Amounts in cents. */
export interface RefundablePayment {
  readonly paymentMethodType: PaymentMethodType;
  /** Amount charged to the payer: with the tip, without vouchers; 0 unless the payment succeeded (P6). */
  readonly processedAmount: number;
  readonly refundedAmount: number;
  /** Reserved by pending refunds. */
  readonly pendingAmount: number;
}

export type RefundRefusal = Extract<ErrorCode, 'refund.amount-exceeded' | 'refund.not-possible'>;

/** Limit of a new refund, in cents. */
export function refundableAmount(payment: RefundablePayment): number {
  if (payment.paymentMethodType !== 'Card') return 0;
  return payment.processedAmount - payment.refundedAmount - payment.pendingAmount;
}

/**
 * The reason why a refund is not possible; undefined when it is. Only charges of the acquirer can be refunded: an external payment
 * is refunded externally, and a voucher is not money.
 */
export function refundRefusal(payment: RefundablePayment, amount: number): RefundRefusal | undefined {
  if (payment.paymentMethodType !== 'Card' || payment.processedAmount === 0) return 'refund.not-possible';
  return amount > refundableAmount(payment) ? 'refund.amount-exceeded' : undefined;
}

/** Ages at which the job queries the acquirer, counted from the decision; after the last one, every {@link QUERY_INTERVAL_MS}. */
export const QUERY_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
export const QUERY_INTERVAL_MS = 300_000;
/** Before this age, "not found" at the acquirer can mean that it has not received the call yet. */
export const NOT_FOUND_COUNTS_AFTER_MS = 10_000;

/** Time of the next query, after this number of queries. There is no last query, because the refund may have happened. */
export function nextQueryAt(createdAt: Date, queries: number, now: Date): Date {
  const after = QUERY_AFTER_MS[queries];
  const at = after === undefined ? now.getTime() + QUERY_INTERVAL_MS : createdAt.getTime() + after;
  return new Date(Math.max(at, now.getTime()));
}

/**
 * True when an answer at this age means that the acquirer has not received the refund. Then it is resent with its key, under which
 * the acquirer refunds once, even if the first call still arrives.
 */
export function isMissing(answer: RefundQueryResult, ageMs: number): boolean {
  return answer.kind === 'notFound' && ageMs >= NOT_FOUND_COUNTS_AFTER_MS;
}

/** The effect of an answer on a refund. */
export type RefundConclusion =
  | { readonly kind: 'end'; readonly state: Exclude<RefundStatus, 'pending'>; readonly acquirerReference: string }
  /** The acquirer is queried again later. */
  | { readonly kind: 'queryAgain' }
  /** The answer adds nothing to the row. */
  | { readonly kind: 'none' }
  /** The answer contradicts the row. */
  | { readonly kind: 'incident' };

/** Decides the effect of an answer on a refund in this state. The test has a row for every pair. */
export function conclude(state: RefundStatus, answer: RefundQueryResult): RefundConclusion {
  if (answer.kind !== 'succeeded' && answer.kind !== 'declined')
    return { kind: state === 'pending' ? 'queryAgain' : 'none' };
  const end = answer.kind === 'succeeded' ? 'succeeded' : 'failed';
  if (state === 'pending') return { kind: 'end', state: end, acquirerReference: answer.acquirerReference };
  return { kind: state === end ? 'none' : 'incident' };
}

/** Detects an Idempotency-Key that is reused with a different request (C7). */
export function fingerprintOf(paymentReference: string, amount: number, reason: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([paymentReference, amount, reason ?? null]))
    .digest('hex');
}
