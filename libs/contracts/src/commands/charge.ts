import { commandType } from '../events/envelope.js';
import type { HostedPaymentSnapshot, InvoiceSource, PayableDescriptor, PaymentSnapshot } from '../events/payments.js';
import type { PayerContext } from './payer-context.js';

/** One press of Pay on the hosted page. */
export interface ChargeCard {
  payable: PayableDescriptor;
  /** UUID of the payment, created by the page; the idempotency key: a repeat gets the first result (C7). */
  reference: string;
  /** Number of the attempt on this payable, from 1; the card is encrypted for exactly this one (P8). */
  try: number;
  /** Compact JWE with the card and its binding (P8). Never written to disk. */
  encryptedCard: string;
  /** The bank redirects the payer here after a verification on its own page. */
  payerReturnUrl: string;
  /** Absent in requests of a gateway of an earlier release. */
  payer?: PayerContext;
  /** ISO 8601 UTC. A charge must not begin after this time, because the caller no longer waits for it. */
  deadline: string;
}

/**
 * hosted-gateway → payment-processor. The reply is the payment in its present state: final, `verificationRequired`, or
 * `processing` while the acquirer's response is unknown. Refused with `request.invalid`, `payable.*` or `payment.in-progress`
 * before anything is charged or recorded.
 */
export const ChargeCardV1 = commandType<ChargeCard, HostedPaymentSnapshot>('charge-card.v1');

/** One press of Pay on the page of a till's invoice. */
export interface ChargeInvoice extends Omit<ChargeCard, 'payable'> {
  payable: PayableDescriptor<InvoiceSource>;
  /** Cents without the tip, as chosen by the payer. It may differ from the amount due only if the merchant allows that. */
  amount: number;
  /** Cents; more than 0 only if the merchant accepts tips. */
  tipAmount: number;
}

/**
 * hosted-gateway → payment-processor, as {@link ChargeCardV1}. A separate command, because an older processor would ignore the
 * chosen amount and charge the amount due. Refused with `payable.mismatch` or `payment.not-accepted` if the merchant does not
 * allow the amount or tip.
 */
export const ChargeInvoiceV1 = commandType<ChargeInvoice, PaymentSnapshot>('charge-invoice.v1');

/**
 * hosted-gateway → payment-processor: a payer views this payable. The processor queries the acquirer for unknown attempts and
 * open verifications, unless it just did (P1), and replies with all payments in their present state.
 */
export const CheckPaymentsV1 = commandType<{ payableId: string }, PaymentSnapshot[]>('check-payments.v1');
