import { commandType } from '../events/envelope.js';
import type { AnyPaymentSnapshot } from '../events/payments.js';

/** A payment as it was committed, whole. */
export interface ShowPayment {
  /** Of a partner: those of others are in no history. */
  payment: AnyPaymentSnapshot;
  /** aggregateVersion of the event that says the same. */
  version: number;
}

/**
 * payment-processor → payment-history, after the commit and before `POST /v1/payments` answers: from the reply on the
 * payment can be read back at this version or a newer one (P5). Only speeds up what the event would do by itself, so
 * whoever asks waits briefly and answers all the same when nobody replies.
 */
export const ShowPaymentV1 = commandType<ShowPayment, { shown: true }>('show-payment.v1');
