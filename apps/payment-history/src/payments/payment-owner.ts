import type { AuthenticatedPartner } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';

/** Owner of payments; every query requires one. */
export interface PaymentOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** Canonical id of a customer; undefined for all customers of the organisation. */
  readonly customerId: string | undefined;
}

/** The payments that a caller may read: for a partner's server those of the organisation, for a customer its own (P5). */
export function getPaymentOwner({ organisationId, mode, customerReference }: AuthenticatedPartner): PaymentOwner {
  return { organisationId, mode, customerId: customerReference };
}

/**
 * Narrows an owner to one customer. Undefined when a customer requests the payments of another one, or the reference is
 * invalid. It must reject the empty text, under which payment_counts stores the counts of all customers.
 */
export function narrowToCustomer(owner: PaymentOwner, customerReference: string | undefined): PaymentOwner | undefined {
  if (customerReference === undefined) return owner;
  if (!isText(customerReference, MAX_IDENTIFIER_LENGTH)) return undefined;
  const customerId = canonicalId(customerReference);
  if (owner.customerId !== undefined && owner.customerId !== customerId) return undefined;
  return { ...owner, customerId };
}
