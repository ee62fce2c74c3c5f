import { commandType } from '../events/envelope.js';
import type { PayableDescriptor, PaymentSnapshot } from '../events/payments.js';

/** One press of Pay on the hosted page. */
export interface ChargeCard {
  payable: PayableDescriptor;
  /** UUID of the payment, made by the page; the idempotency key: a repeat gets the first outcome (C7). */
  reference: string;
  /** Which try of the payable this is, from 1; the card was encrypted for exactly this one (P8). */
  try: number;
  /** Compact JWE with the card and its binding (P8). Never written to disk. */
  encryptedCard: string;
  /** Where the bank leads the payer back to, if it asks for a verification on a page of its own. */
  payerReturnUrl: string;
  /** ISO 8601 UTC. A charge that has not begun by then must not begin (nobody waits for it any more). */
  deadline: string;
}

/**
 * hosted-gateway → payment-processor. The reply is the payment in its present state: final, `verificationRequired`, or
 * `processing` when the acquirer's answer is not known yet. Refused with `request.invalid`, `payable.*` or `payment.in-progress`
 * before anything is charged or recorded.
 */
export const ChargeCardV1 = commandType<ChargeCard, PaymentSnapshot>('charge-card.v1');

/**
 * hosted-gateway → payment-processor: somebody looks at this payable, so its unknown attempts and open verifications are
 * asked for at the acquirer now, unless they just were (P1). The reply is all its payments, in their present state.
 */
export const CheckPaymentsV1 = commandType<{ payableId: string }, PaymentSnapshot[]>('check-payments.v1');
