import { commandType } from '../events/envelope.js';
import type { PaymentSnapshot } from '../events/payments.js';

/** The complete payment, as committed. */
export interface ShowPayment {
  /** A partner's payment: other payments are in no history. */
  payment: PaymentSnapshot;
  /** aggregateVersion of the corresponding event. */
  version: number;
}

/**
 * payment-processor → payment-history, after the commit and before `POST /v1/payments` answers: after the reply the payment can
 * be read at this version or a newer one (P5). The event would do the same later, so payment-processor waits only briefly, and
 * responds to its client even without a reply.
 */
export const ShowPaymentV1 = commandType<ShowPayment, { shown: true }>('show-payment.v1');
