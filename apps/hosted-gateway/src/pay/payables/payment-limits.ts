import { isPartnerPayment } from '@svc/contracts';
import { MAX_SESSION_PAYMENTS } from '../../sessions/max-session-payments.js';
import { isStaticCode, type PayerAddress } from '../../sessions/payer-address.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';
import { isInvoice, type PagePayable } from './page-payable.js';

/** After each such number of failures on the pages of an invoice, its static code is paused. */
const FAILURES_UNTIL_PAUSE = 20;
const PAUSE_MS = 10 * 60_000;
/**
 * Shares of an invoice's payments that its pages may use. The payments of all payers count. The printed code of a till
 * is public, so its page may use fewer payments than the page of the invoice's own code, which only the customer sees.
 * The rest is left for payment apps. So a stranger can never prevent a payment of the customer.
 */
const STATIC_CODE_SHARE = 0.6;
const OWN_CODE_SHARE = 0.8;

/**
 * Decides whether the page at this address may start another payment: for some minutes no (`paused`), or not any more
 * (`used-up`).
 */
export function checkPaymentLimit(
  payable: PagePayable,
  address: PayerAddress,
  now: Date,
): 'allowed' | 'paused' | 'used-up' {
  if (!isInvoice(payable)) return payable.paymentCount < MAX_SESSION_PAYMENTS ? 'allowed' : 'used-up';
  const share = isStaticCode(address) ? STATIC_CODE_SHARE : OWN_CODE_SHARE;
  if (payable.paymentCount >= Math.floor(payable.maxPayments * share)) return 'used-up';
  return isStaticCode(address) && isPaused(payable, now) ? 'paused' : 'allowed';
}

/**
 * Payments of apps do not count. A payment that waits for verification counts, because it fails only after minutes. The
 * pause begins when the last of the twenty payments was accepted, because that time never changes.
 */
function isPaused({ payments }: TillInvoice, now: Date): boolean {
  const times = payments
    .filter((payment) => ['failed', 'verificationRequired'].includes(payment.state) && !isPartnerPayment(payment))
    .map(({ paymentUTCDate }) => Date.parse(paymentUTCDate))
    .sort((a, b) => a - b);
  const pauseCount = Math.floor(times.length / FAILURES_UNTIL_PAUSE);
  const pausedAt = times[pauseCount * FAILURES_UNTIL_PAUSE - 1];
  return pausedAt !== undefined && now.getTime() < pausedAt + PAUSE_MS;
}
