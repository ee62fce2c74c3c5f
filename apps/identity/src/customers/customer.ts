import { type CustomerAnswer, type CustomerRegistered, CustomerRegisteredV1, type Mode } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A user that was registered as a customer of its organisation (A4). */
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

/** What every service is told: the names that payments carry, no address. */
export function customerRegistered(
  { customerReference, organisationId, mode }: Customer,
  { firstName, lastName }: { firstName: string; lastName: string },
): NewEvent<CustomerRegistered> {
  return {
    type: CustomerRegisteredV1,
    aggregateId: customerReference,
    aggregateVersion: 1,
    payload: { customerReference, organisationId, mode, firstName, lastName },
  };
}
