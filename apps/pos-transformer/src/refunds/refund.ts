/** The rules of refunds that a till requests (T10). */
import type { MerchantPayment } from '@svc/sdk';
import { calculateAmounts } from '../payments/payment.js';

/**
 * `queued`: the platform has not responded. `pending`: the bank has not decided. If a pending refund has a `refusal`,
 * the transformer gave up and the outcome is unknown. `succeeded`, `failed` (declined by the bank) and `refused` (by
 * the platform) are final.
 */
export type RefundState = 'queued' | 'pending' | 'succeeded' | 'failed' | 'refused';

export interface Refund {
  readonly refundId: number;
  readonly siteId: number;
  readonly svcId: string;
  readonly amountCents: number;
  /** The till's RefundReference. */
  readonly reference: string | null;
  /** Sent with every attempt, so that the platform creates the refund only once (C7). */
  readonly idempotencyKey: string;
  readonly state: RefundState;
  /** Why the platform refused the refund, or why its outcome is unknown. */
  readonly refusal: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** An equal request within this time is the same refund, because a SvcRefund request has no idempotency key (T10). */
export const REPEAT_WINDOW_MS = 120_000;

export interface NewRefund {
  readonly svcId: string;
  readonly amountCents: number;
  readonly reference: string | undefined;
}

/**
 * The earlier refund that this request repeats; undefined if the request is new.
 *
 * A request with a RefundReference repeats the refund with the same reference, regardless of its age. A request without
 * a RefundReference repeats the newest refund of the same payment and amount that has no final state or is at most two
 * minutes old, because a cashier who gets no response repeats the refund. After two minutes, the same amount may be
 * refunded again.
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

/**
 * Why this amount of the payment cannot be refunded; undefined if the stored data allow the refund. The platform may
 * still refuse the refund.
 */
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

/** Whether the amount is whole cents above 0, within the platform's limit. */
export function isRefundAmount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount > 0 && amount <= 100_000_000_000;
}

function isWithoutOutcome({ state }: Refund): boolean {
  return state === 'queued' || state === 'pending';
}

function isUnsuccessful({ state }: Refund): boolean {
  return state === 'failed' || state === 'refused';
}
