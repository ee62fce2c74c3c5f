import type { Invoice } from '@svc/contracts';
import type { CodedSession } from './session-code.repository.js';

/**
 * The state of a session according to this service's tables. An expired session may have a payment in progress: see
 * CheckExpiredSession.
 */
export function sessionInvoiceState(
  { closedAt, expiresAt }: Pick<CodedSession, 'closedAt' | 'expiresAt'>,
  now: Date,
): 'open' | 'closed' | 'expired' {
  if (closedAt) return 'closed';
  return now < expiresAt ? 'open' : 'expired';
}

/**
 * Converts a session to an invoice (specification, "Invoice"). The custom fields of the session are omitted, because
 * they are free text of the merchant, not line items. Only the payment page shows them.
 */
export function sessionInvoice(
  session: CodedSession & { readonly siteReference: string },
  state: 'open' | 'closed',
): Invoice {
  return {
    siteReference: session.siteReference,
    currencyISOCode: session.currencyISOCode,
    amount: session.amount,
    createdUTCDate: session.createdAt.toISOString(),
    invoiceReference: session.sessionId,
    orderReference: session.merchantOrderId,
    state,
  };
}
