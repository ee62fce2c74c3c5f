import { MAX_SESSION_ATTEMPTS } from '../../sessions/max-session-attempts.js';
import type { SessionWithPayments } from '../../sessions/session.repository.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';

/** The payable of a payment page: a session or the invoice of a till. Both have the same states. */
export type PagePayable = SessionWithPayments | TillInvoice;

export function isInvoice(payable: PagePayable): payable is TillInvoice {
  return 'invoiceReference' in payable;
}

export function payableIdOf(payable: PagePayable): string {
  return isInvoice(payable) ? payable.invoiceReference : payable.sessionId;
}

/**
 * Attempts left on a page. For an invoice, attempts on the page are counted separately from those of partners, because the payers
 * are different people: a person who has seen the code can use up only the attempts of the page.
 */
export function attemptsLeftOf(payable: PagePayable): number {
  if (!isInvoice(payable)) return MAX_SESSION_ATTEMPTS - payable.tries;
  const ofPage = payable.payments.filter(({ partner }) => partner === undefined);
  const failed = ofPage.filter(({ state }) => state === 'failed').length;
  const unsuccessful = ofPage.filter(({ state }) => ['failed', 'verificationRequired'].includes(state)).length;
  return Math.min(MAX_SESSION_ATTEMPTS - failed, MAX_UNSUCCESSFUL - unsuccessful, payable.triesMax - payable.tries);
}

/**
 * Limit for payments of an invoice's page that failed or wait for verification. A waiting payment uses an attempt of the payable, but
 * does not fail for 15 minutes. Without this limit a stranger could use up all attempts, and apps could not pay either.
 */
const MAX_UNSUCCESSFUL = 2 * MAX_SESSION_ATTEMPTS;
