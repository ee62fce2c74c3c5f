import type { AuthenticatedPartner } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';

/** Whose payments are looked for: nothing is found without saying so. */
export interface PaymentOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** Only those of this customer, by its canonical id; undefined: of all the organisation's. */
  readonly customerId: string | undefined;
}

/** What a caller may see: a partner's server everything of its organisation, a customer what it paid itself (P5). */
export function visibleTo({ organisationId, mode, customerReference }: AuthenticatedPartner): PaymentOwner {
  return { organisationId, mode, customerId: customerReference };
}

/**
 * The part of it that belongs to one customer; undefined where that is nothing, because a customer asks for another's.
 * Text that no customer can have is nobody's; above all the empty one, under which payment_counts keeps the whole.
 */
export function narrowed(owner: PaymentOwner, customerReference: string | undefined): PaymentOwner | undefined {
  if (customerReference === undefined) return owner;
  if (!isText(customerReference, MAX_IDENTIFIER_LENGTH)) return undefined;
  const customerId = canonicalId(customerReference);
  if (owner.customerId !== undefined && owner.customerId !== customerId) return undefined;
  return { ...owner, customerId };
}
