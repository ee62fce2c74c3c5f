import {
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import type { ReadModel } from '@svc/messaging';

/** The tables of the read model, and the types of the events that a rebuild replays. */
export const READ_MODEL = {
  tables: ['payments', 'payment_counts'],
  types: [PaymentProcessingV1, PaymentVerificationRequiredV1, PaymentSucceededV1, PaymentFailedV1],
} as const satisfies ReadModel;
