import { withOwnReference } from '../src/own-payments.js';

const KEPT_SECONDS = 24 * 3_600;

/**
 * Keeps which payments of an invoice this browser made, in a cookie of that page alone: the server shows their receipt, or why the card
 * was declined, to this browser and to no other (send-answer.ts reads it). More than one, because a bank may approve the older of two. Set before the payment is sent, so that it does not
 * depend on an answer that may be lost. Where cookies are refused the page says that it is paid, without a receipt.
 *
 * @param callsPath of the invoice's page: `/c/<code>`
 */
export function keepOwnPayment(callsPath: string, reference: string): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  const kept = withOwnReference(document.cookie, reference);
  document.cookie = `${kept}; path=${callsPath}; max-age=${KEPT_SECONDS}; samesite=lax${secure}`;
}
