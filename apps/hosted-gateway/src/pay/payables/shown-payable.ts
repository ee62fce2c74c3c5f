import type { SessionWithPayments } from '../../sessions/session.repository.js';
import { SESSION_TRIES_MAX } from '../../sessions/tries.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';

/** What the payer's page is about: a session, or the invoice of a till. Both are a payable, and have the same states. */
export type ShownPayable = SessionWithPayments | TillInvoice;

export function isInvoice(shown: ShownPayable): shown is TillInvoice {
  return 'invoiceReference' in shown;
}

export function payableIdOf(shown: ShownPayable): string {
  return isInvoice(shown) ? shown.invoiceReference : shown.sessionId;
}

/**
 * Tries that a page has left. Those of an invoice are counted apart from partners': its payers are other people, and who has seen
 * the code of a till can use up no more of its tries than these.
 */
export function triesLeftOf(shown: ShownPayable): number {
  if (!isInvoice(shown)) return SESSION_TRIES_MAX - shown.tries;
  const ofPage = shown.payments.filter(({ partner }) => partner === undefined);
  const failed = ofPage.filter(({ state }) => state === 'failed').length;
  const unsuccessful = ofPage.filter(({ state }) => ['failed', 'verificationRequired'].includes(state)).length;
  return Math.min(SESSION_TRIES_MAX - failed, UNSUCCESSFUL_MAX - unsuccessful, shown.triesMax - shown.tries);
}

/**
 * Payments of an invoice's page that failed or wait for their payer at the bank. A payment that waits has used a try of the payable
 * and is no failure for 15 minutes: without this bound a stranger could use up all of them, so that no app can pay either.
 */
const UNSUCCESSFUL_MAX = 2 * SESSION_TRIES_MAX;
