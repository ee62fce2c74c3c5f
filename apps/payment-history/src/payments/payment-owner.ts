import type { AuthenticatedPartner } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';

/** The owner of payments. Every query requires one. */
export interface PaymentOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** Canonical id of a customer; undefined for all customers of the organisation. */
  readonly customerId: string | undefined;
}

/**
 * Returns the owner of the payments that a caller may read: the organisation, or one customer for a customer's token
 * (P5).
 */
export function getPaymentOwner({ organisationId, mode, customerReference }: AuthenticatedPartner): PaymentOwner {
  return { organisationId, mode, customerId: customerReference };
}

/**
 * Narrows an owner to one customer. Returns undefined when the caller is another customer, or the reference is invalid.
 * It must reject the empty text, because payment_counts uses it for the counts of all customers together.
 */
export function narrowToCustomer(owner: PaymentOwner, customerReference: string | undefined): PaymentOwner | undefined {
  if (customerReference === undefined) return owner;
  if (!isText(customerReference, MAX_IDENTIFIER_LENGTH)) return undefined;
  const customerId = canonicalId(customerReference);
  if (owner.customerId !== undefined && owner.customerId !== customerId) return undefined;
  return { ...owner, customerId };
}
