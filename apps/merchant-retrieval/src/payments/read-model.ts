import { PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import type { ReadModel } from '@svc/messaging';

export const READ_MODEL = {
  tables: ['payments'],
  types: [PaymentSucceededV1, PaymentFailedV1],
} as const satisfies ReadModel;
