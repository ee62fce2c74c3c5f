import { commandType } from '../events/envelope.js';
import type { AnyPaymentSnapshot, InvoiceSource, PayableDescriptor, PaymentSnapshot } from '../events/payments.js';
import type { PayerContext } from './payer-context.js';

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
  /** Absent from a gateway of an earlier release. */
  payer?: PayerContext;
  /** ISO 8601 UTC. A charge that has not begun by then must not begin (nobody waits for it any more). */
  deadline: string;
}

/**
 * hosted-gateway → payment-processor. The reply is the payment in its present state: final, `verificationRequired`, or
 * `processing` when the acquirer's answer is not known yet. Refused with `request.invalid`, `payable.*` or `payment.in-progress`
 * before anything is charged or recorded.
 */
export const ChargeCardV1 = commandType<ChargeCard, PaymentSnapshot>('charge-card.v1');

/** One press of Pay on the page of a till's invoice. */
export interface ChargeInvoice extends Omit<ChargeCard, 'payable'> {
  payable: PayableDescriptor<InvoiceSource>;
  /** Cents, tip not included: what the payer chose. Another amount than what is owed only where the merchant lets it be edited. */
  amount: number;
  /** Cents; more than 0 only where the merchant takes tips. */
  tipAmount: number;
}

/**
 * hosted-gateway → payment-processor, as {@link ChargeCardV1}. A command of its own, because a processor that does not know the
 * chosen amount would charge what is owed. Refused with `payable.mismatch` and `payment.not-accepted` where the merchant does not
 * agree to it.
 */
export const ChargeInvoiceV1 = commandType<ChargeInvoice, AnyPaymentSnapshot>('charge-invoice.v1');

/**
 * hosted-gateway → payment-processor: somebody looks at this payable, so its unknown attempts and open verifications are
 * asked for at the acquirer now, unless they just were (P1). The reply is all its payments, in their present state.
 */
export const CheckPaymentsV1 = commandType<{ payableId: string }, AnyPaymentSnapshot[]>('check-payments.v1');
