import { createHash } from 'node:crypto';
import type { ErrorCode, PaymentMethodType, RefundStatus } from '@svc/contracts';
import type { RefundQueryResult } from '../acquirers/acquirer.js';

/**
 * A refund: money of a successful card payment that the acquirer gives back (M5). `pending` may have happened; it reserves its
 * amount and is asked about until it ends. A test compares the list with the trigger of the table.
 */
export const REFUND_TRANSITIONS = {
  pending: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<RefundStatus, readonly RefundStatus[]>;

/** What decides whether money of a payment can be given back. Amounts in cents. */
export interface RefundablePayment {
  readonly paymentMethodType: PaymentMethodType;
  /** What was taken from the payer: tip included, vouchers not; 0 unless the payment succeeded (P6). */
  readonly processedAmount: number;
  readonly refundedAmount: number;
  /** Reserved by pending refunds. */
  readonly pendingAmount: number;
}

export type RefundRefusal = Extract<ErrorCode, 'refund.amount-exceeded' | 'refund.not-possible'>;

/** Cents that a new refund may have. */
export function refundableAmount(payment: RefundablePayment): number {
  if (payment.paymentMethodType !== 'Card') return 0;
  return payment.processedAmount - payment.refundedAmount - payment.pendingAmount;
}

/**
 * Why a refund is refused; undefined where it is not. Only money that the acquirer has taken can be given back: a payment that
 * was made elsewhere is given back there, and a voucher is not money.
 */
export function refundRefusal(payment: RefundablePayment, amount: number): RefundRefusal | undefined {
  if (payment.paymentMethodType !== 'Card' || payment.processedAmount === 0) return 'refund.not-possible';
  return amount > refundableAmount(payment) ? 'refund.amount-exceeded' : undefined;
}

/** When the job asks the acquirer, counted from the decision; after the last one, every {@link QUERY_INTERVAL_MS}. */
export const QUERY_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
export const QUERY_INTERVAL_MS = 300_000;
/** Before this age, "not found" at the acquirer can mean that the call is still on its way. */
export const NOT_FOUND_COUNTS_AFTER_MS = 10_000;

/** When to ask next, having asked `asked` times. A refund is never given up: it may have happened. */
export function nextQueryAt(createdAt: Date, asked: number, now: Date): Date {
  const after = QUERY_AFTER_MS[asked];
  const at = after === undefined ? now.getTime() + QUERY_INTERVAL_MS : createdAt.getTime() + after;
  return new Date(Math.max(at, now.getTime()));
}

/**
 * Whether the acquirer, asked at this age, has not received the refund: then it is sent again under its key, which the
 * acquirer refunds once, even if the first call arrives after all.
 */
export function isMissing(answer: RefundQueryResult, ageMs: number): boolean {
  return answer.kind === 'notFound' && ageMs >= NOT_FOUND_COUNTS_AFTER_MS;
}

/** The effect of an answer on a refund. */
export type RefundConclusion =
  | { readonly kind: 'end'; readonly state: Exclude<RefundStatus, 'pending'>; readonly acquirerReference: string }
  /** The acquirer is asked again later. */
  | { readonly kind: 'askAgain' }
  /** The answer adds nothing to what the row says. */
  | { readonly kind: 'none' }
  /** The answer contradicts the row. */
  | { readonly kind: 'incident' };

/** Decides the effect of an answer on a refund in this state. The test has a row for every pair. */
export function conclude(state: RefundStatus, answer: RefundQueryResult): RefundConclusion {
  if (answer.kind !== 'succeeded' && answer.kind !== 'declined')
    return { kind: state === 'pending' ? 'askAgain' : 'none' };
  const end = answer.kind === 'succeeded' ? 'succeeded' : 'failed';
  if (state === 'pending') return { kind: 'end', state: end, acquirerReference: answer.acquirerReference };
  return { kind: state === end ? 'none' : 'incident' };
}

/** Tells whether an Idempotency-Key that comes again asks for the same (C7). */
export function fingerprintOf(paymentReference: string, amount: number, reason: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([paymentReference, amount, reason ?? null]))
    .digest('hex');
}
