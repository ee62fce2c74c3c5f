import type { CustomerAnswer, Mode } from '@svc/contracts';

/**
 * A user that was registered as a customer of its organisation (A4). Other services know it by its token;
 * `customer.registered.v1` carries its name to payment-processor, and nothing else that is personal.
 */
export interface Customer {
  readonly customerReference: string;
  readonly userId: string;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly createdAt: Date;
}

export function showCustomer({ customerReference, userId, organisationId, createdAt }: Customer): CustomerAnswer {
  return { customerReference, userId, organisationId, createdUTCDate: createdAt.toISOString() };
}
