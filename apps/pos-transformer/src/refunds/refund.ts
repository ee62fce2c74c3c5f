/** The rules of refunds that a till asks for (T10). */
import type { MerchantPayment } from '@svc/sdk';
import { amountsOf } from '../payments/payment.js';

/**
 * `queued`: the platform has not answered. `pending`: the bank has not decided, or, with a `refusal`, the calls were given up
 * and the outcome is not known. The other three are final.
 */
export type RefundState = 'queued' | 'pending' | 'succeeded' | 'failed' | 'refused';

export interface Refund {
  readonly refundId: number;
  readonly siteId: number;
  readonly svcId: string;
  readonly amountCents: number;
  /** The till's RefundReference. */
  readonly reference: string | null;
  /** Sent with every try, so that the platform makes the refund once (C7). */
  readonly idempotencyKey: string;
  readonly state: RefundState;
  /** Why the platform refused it, or why its outcome is not known. */
  readonly refusal: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A repeat within this time is the same refund: SvcRefund has no key (T10). */
export const REPEAT_MS = 120_000;

export interface AskedRefund {
  readonly svcId: string;
  readonly amountCents: number;
  readonly reference: string | undefined;
}

/**
 * The earlier refund that this one repeats. With a RefundReference only one of the same reference, at any time. Without, the
 * newest of the last two minutes: a cashier who got no answer presses again. One without an outcome is repeated at any age:
 * the cashier presses again until there is one. One that gave nothing back may be tried again after that.
 */
export function repeatedRefund(asked: AskedRefund, earlier: readonly Refund[], now: Date): Refund | undefined {
  if (asked.reference !== undefined) return earlier.find(({ reference }) => reference === asked.reference);
  return [...earlier]
    .sort((a, b) => b.refundId - a.refundId)
    .find(
      (refund) =>
        refund.svcId === asked.svcId &&
        refund.amountCents === asked.amountCents &&
        (isWithoutOutcome(refund) || now.getTime() - Date.parse(refund.createdAt) <= REPEAT_MS),
    );
}

/** Why nothing of this payment, or not so much, can be given back; undefined where it can, as far as is known here. */
export function refundRefusal(
  payment: MerchantPayment,
  earlier: readonly Refund[],
  amountCents: number,
): 'payment-failed' | 'more-than-is-left' | undefined {
  if (payment.status !== 'Success') return 'payment-failed';
  const given = earlier
    .filter((refund) => refund.svcId === payment.paymentReference && !isWithoutEffect(refund))
    .reduce((sum, refund) => sum + refund.amountCents, 0);
  return given + amountCents > amountsOf(payment).paid ? 'more-than-is-left' : undefined;
}

/** Whole cents of more than nothing, at most what the platform takes. */
export function isRefundAmount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount > 0 && amount <= 100_000_000_000;
}

function isWithoutOutcome({ state }: Refund): boolean {
  return state === 'queued' || state === 'pending';
}

function isWithoutEffect({ state }: Refund): boolean {
  return state === 'failed' || state === 'refused';
}
