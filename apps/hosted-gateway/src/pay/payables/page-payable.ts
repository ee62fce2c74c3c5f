import { MAX_SESSION_ATTEMPTS } from '../../sessions/max-session-attempts.js';
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

/**
 * Number of attempts left on a page. For an invoice the page has its own limit, besides the limit of the invoice. So a
 * person who has seen the code can use up only the attempts of the page, and partners can still pay the invoice.
 */
export function countAttemptsLeft(payable: PagePayable): number {
  if (!isInvoice(payable)) return MAX_SESSION_ATTEMPTS - payable.tries;
  const paymentsOnPage = payable.payments.filter(({ partner }) => partner === undefined);
  const failed = paymentsOnPage.filter(({ state }) => state === 'failed').length;
  const unsuccessful = paymentsOnPage.filter(({ state }) => ['failed', 'verificationRequired'].includes(state)).length;
  return Math.min(MAX_SESSION_ATTEMPTS - failed, MAX_UNSUCCESSFUL - unsuccessful, payable.triesMax - payable.tries);
}

/**
 * Limit for payments on an invoice's page that failed or wait for verification. A payment that waits for verification
 * uses an attempt of the payable, but fails only after 15 minutes. Without this limit one person could use up all
 * attempts of the payable, and then partners could not pay it either.
 */
const MAX_UNSUCCESSFUL = 2 * MAX_SESSION_ATTEMPTS;
