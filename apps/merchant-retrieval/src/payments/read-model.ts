import { PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import type { ReadModel } from '@svc/messaging';

/** The tables of the read model, and the types of the events that a rebuild replays. */
export const READ_MODEL = {
  tables: ['payments'],
  types: [PaymentSucceededV1, PaymentFailedV1],
} as const satisfies ReadModel;
