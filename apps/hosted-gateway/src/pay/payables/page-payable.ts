import type { SessionWithPayments } from '../../sessions/session.repository.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';

/** The payable of a payment page: a session or the invoice of a till. Both have the same states. */
export type PagePayable = SessionWithPayments | TillInvoice;

export function isInvoice(payable: PagePayable): payable is TillInvoice {
  return 'invoiceReference' in payable;
}

export function getPayableId(payable: PagePayable): string {
  return isInvoice(payable) ? payable.invoiceReference : payable.sessionId;
}
