import { commandType } from '../events/envelope.js';
import type {
  HostedPayableDescriptor,
  HostedPaymentSnapshot,
  InvoiceSource,
  PayableDescriptor,
  PaymentSnapshot,
} from '../events/payments.js';
import type { PayerContext } from './payer-context.js';

/** The payer has pressed "Pay" on the hosted page. */
export interface ChargeCard {
  payable: HostedPayableDescriptor;
  /**
   * UUID of the payment, created by the page. It is the idempotency key: a repeat gets the result of the first request
   * (C7).
   * @schema uuid
   */
  reference: string;
  /** Number of the payment for this payable, from 1. The card is encrypted for exactly this payment (P8). */
  paymentNumber: number;
  /** Compact JWE with the card, bound to the payable and the payment (P8). Never written to disk. */
  encryptedCard: string;
  /** The bank redirects the payer here after a verification on its own page. */
  payerReturnUrl: string;
  payer: PayerContext;
  /**
   * ISO 8601 UTC. A charge must not begin after this time, because the caller no longer waits for it.
   * @schema date-time
   */
  deadline: string;
}

/**
 * hosted-gateway → payment-processor: charges a card. The reply is the payment in its present state: final,
 * `verificationRequired`, or `processing` while the acquirer has not responded. If the command is refused with
 * `request.invalid`, `payable.*` or `payment.in-progress`, nothing was charged or stored.
 */
export const ChargeCardV1 = commandType<ChargeCard, HostedPaymentSnapshot>('charge-card.v1');

/** The payer has pressed "Pay" on the page of a till's invoice. */
export interface ChargeInvoice extends Omit<ChargeCard, 'payable'> {
  payable: PayableDescriptor<InvoiceSource>;
  /**
   * Cents without the tip, as chosen by the payer. It may differ from the amount due only if the merchant allows that.
   */
  amount: number;
  /** Cents; more than 0 only if the merchant accepts tips. */
  tipAmount: number;
}

/**
 * hosted-gateway → payment-processor: charges a card for an invoice, like {@link ChargeCardV1}. Refused with
 * `payable.mismatch` or `payment.not-accepted` if the merchant does not allow the amount or tip.
 */
export const ChargeInvoiceV1 = commandType<ChargeInvoice, PaymentSnapshot>('charge-invoice.v1');

/**
 * hosted-gateway → payment-processor: a payer views this payable. The processor queries the acquirer for attempts with
 * an unknown outcome and for open verifications, unless it has just done so (P1). It replies with all payments in their
 * present state.
 */
export const CheckPaymentsV1 = commandType<{ payableId: string }, PaymentSnapshot[]>('check-payments.v1');
