/** The rules of refunds that a till requests (T10). */
import type { MerchantPayment } from '@svc/sdk';
import { calculateAmounts } from '../payments/payment.js';

/**
 * `queued`: the platform has not answered. `pending`: the bank has not decided; or, with a `refusal`, the transformer gave up and
 * the outcome is unknown. The other three are final.
 */
export type RefundState = 'queued' | 'pending' | 'succeeded' | 'failed' | 'refused';

export interface Refund {
  readonly refundId: number;
  readonly siteId: number;
  readonly svcId: string;
  readonly amountCents: number;
  /** The till's RefundReference. */
  readonly reference: string | null;
  /** Sent with every attempt, so that the platform makes the refund once (C7). */
  readonly idempotencyKey: string;
  readonly state: RefundState;
  /** Why the platform refused it, or why its outcome is unknown. */
  readonly refusal: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A repeat within this time is the same refund: SvcRefund has no key (T10). */
export const REPEAT_WINDOW_MS = 120_000;

export interface NewRefund {
  readonly svcId: string;
  readonly amountCents: number;
  readonly reference: string | undefined;
}

/**
 * The earlier refund that this request repeats. With a RefundReference it is the refund with the same reference, of any age.
 * Without one it is the newest refund of the same payment and amount that has no outcome, or is at most two minutes old: a cashier
 * without a response repeats the refund. After these two minutes an unsuccessful refund may be attempted again.
 */
export function findRepeatedRefund(newRefund: NewRefund, earlier: readonly Refund[], now: Date): Refund | undefined {
  if (newRefund.reference !== undefined) return earlier.find(({ reference }) => reference === newRefund.reference);
  return [...earlier]
    .sort((a, b) => b.refundId - a.refundId)
    .find(
      (refund) =>
        refund.svcId === newRefund.svcId &&
        refund.amountCents === newRefund.amountCents &&
        (isWithoutOutcome(refund) || now.getTime() - Date.parse(refund.createdAt) <= REPEAT_WINDOW_MS),
    );
}

/** Why this amount of the payment cannot be refunded; undefined if it can be, as far as the store knows. */
export function findRefusalReason(
  payment: MerchantPayment,
  earlier: readonly Refund[],
  amountCents: number,
): 'payment-failed' | 'amount-exceeded' | undefined {
  if (payment.status !== 'Success') return 'payment-failed';
  const refunded = earlier
    .filter((refund) => refund.svcId === payment.paymentReference && !isUnsuccessful(refund))
    .reduce((sum, refund) => sum + refund.amountCents, 0);
  return refunded + amountCents > calculateAmounts(payment).paid ? 'amount-exceeded' : undefined;
}

/** Whole cents above 0, within the platform's limit. */
export function isRefundAmount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount > 0 && amount <= 100_000_000_000;
}

function isWithoutOutcome({ state }: Refund): boolean {
  return state === 'queued' || state === 'pending';
}

function isUnsuccessful({ state }: Refund): boolean {
  return state === 'failed' || state === 'refused';
}
