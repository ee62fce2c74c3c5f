import type { CustomerAnswer, Mode } from '@svc/contracts';

/**
 * A user that was registered as a customer of its organisation (A4). Others know it by its token; of what is personal, one
 * event tells payment-processor the name, for the payments it makes.
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
