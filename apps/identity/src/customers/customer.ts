import type { CustomerAnswer, Mode } from '@svc/contracts';

/**
 * A user who is registered as a customer of an organisation (A4). Other services read the customerReference from the
 * customer's token. The only personal data in the event `customer.registered.v1` is the name, because payment-processor
 * needs the name.
 */
export interface Customer {
  readonly customerReference: string;
  readonly userId: string;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly createdAt: Date;
}

export function toCustomerView({ customerReference, userId, organisationId, createdAt }: Customer): CustomerAnswer {
  return { customerReference, userId, organisationId, createdUTCDate: createdAt.toISOString() };
}
