import type { AuthenticatedPartner } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';

/** The owner of payments. Every query requires an owner. */
export interface PaymentOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** The canonical id of a customer. Undefined for all customers of the organisation. */
  readonly customerKey: string | undefined;
}

/**
 * Returns the owner of the payments that a caller may read (P5). With a service token the owner is the organisation.
 * With a customer token the owner is this customer.
 */
export function getPaymentOwner({ organisationId, mode, customerReference }: AuthenticatedPartner): PaymentOwner {
  return { organisationId, mode, customerKey: customerReference };
}

/**
 * Narrows an owner to one customer. Returns undefined when the caller is another customer, or when the reference is
 * invalid. An empty reference must be invalid, because payment_counts uses the empty text for the counts of all
 * customers together.
 */
export function narrowToCustomer(owner: PaymentOwner, customerReference: string | undefined): PaymentOwner | undefined {
  if (customerReference === undefined) return owner;
  if (!isText(customerReference, MAX_IDENTIFIER_LENGTH)) return undefined;
  const customerKey = canonicalId(customerReference);
  if (owner.customerKey !== undefined && owner.customerKey !== customerKey) return undefined;
  return { ...owner, customerKey };
}
