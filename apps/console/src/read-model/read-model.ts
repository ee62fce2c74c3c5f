import {
  DisputeChangedV1,
  InvoiceCreatedV1,
  PayableClosedV1,
  PaymentFailedV1,
  PaymentReversedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import type { ReadModel } from '@svc/messaging';

/** The events of payments that people can see: they wait for the payer's bank, or are final. */
export const PAYMENT_TYPES = [PaymentSucceededV1, PaymentFailedV1, PaymentVerificationRequiredV1] as const;

/** The events of refunds with an outcome. */
export const REFUND_TYPES = [RefundSucceededV1, RefundFailedV1] as const;

/** The tables of the read model, and the types of the events that a rebuild replays. */
export const READ_MODEL = {
  tables: ['payments', 'verifications', 'refunds', 'reversals', 'disputes', 'payment_requests', 'ended_payables'],
  types: [...PAYMENT_TYPES, ...REFUND_TYPES, PaymentReversedV1, DisputeChangedV1, InvoiceCreatedV1, PayableClosedV1],
} as const satisfies ReadModel;

/** A subquery that returns the generation (copy) of the read model that serves queries. */
export const SERVING_GENERATION = `(SELECT generation FROM generations WHERE state = 'serving')`;
