import { commandType } from '../events/envelope.js';
import type { PaymentSnapshot } from '../events/payments.js';

/** A complete payment after its change was committed. */
export interface ShowPayment {
  /** The payment of a partner. The history contains no other payments. */
  payment: PaymentSnapshot;
  /** aggregateVersion of the corresponding event. */
  version: number;
}

/**
 * payment-processor → payment-history, sent after the commit and before the response to `POST /v1/payments`. When the
 * reply arrives, the history returns the payment in this or a newer version (P5). The event of the payment has the same
 * effect later. Therefore payment-processor waits only briefly for the reply, and then responds to its client without
 * it.
 */
export const ShowPaymentV1 = commandType<ShowPayment, { shown: true }>('show-payment.v1');
