import type { Invoice } from '@svc/contracts';
import type { CodedSession } from './session-code.repository.js';

/** The state of a session according to this service's copy. An expired one may still have a payment in progress (CheckExpiredSession). */
export function sessionInvoiceState(
  { closedAt, expiresAt }: Pick<CodedSession, 'closedAt' | 'expiresAt'>,
  now: Date,
): 'open' | 'closed' | 'expired' {
  if (closedAt) return 'closed';
  return now < expiresAt ? 'open' : 'expired';
}

/**
 * Converts a session to an invoice (specification, "Invoice"). Without its custom fields, which are free text of the merchant and
 * not line items: only the payment page shows them.
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
