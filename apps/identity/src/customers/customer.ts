import type { CustomerAnswer, Mode } from '@svc/contracts';

/**
 * A user that is registered as a customer of its organisation (A4). Other services get the customerReference from the
 * customer's token. The event `customer.registered.v1` contains no personal data except the name, which
 * payment-processor needs.
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
