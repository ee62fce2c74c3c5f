import type { Invoice } from '@svc/contracts';
import type { CodedSession } from './session-code.repository.js';

/** The state of a session by what is kept of it here; an expired one is open while a payment runs (CheckExpiredSession). */
export function sessionInvoiceState(
  { closedAt, expiresAt }: Pick<CodedSession, 'closedAt' | 'expiresAt'>,
  now: Date,
): 'open' | 'closed' | 'expired' {
  if (closedAt) return 'closed';
  return now < expiresAt ? 'open' : 'expired';
}

/**
 * A session in the words of an invoice (specification, "Invoice"). What is bought is told to the payer on the page only:
 * its custom fields are text of the merchant's, not line items.
 */
export function sessionInvoice(
  session: CodedSession & { readonly siteReference: string },
  state: 'open' | 'closed',
): Invoice {
  return {
    siteReference: session.siteReference,
    currencyISOCode: session.currencyISOCode,
    amount: session.amount,
    createdUTCDate: session.madeAt.toISOString(),
    invoiceReference: session.sessionId,
    orderReference: session.merchantOrderId,
    state,
  };
}
