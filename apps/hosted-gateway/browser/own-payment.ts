import { withOwnReference } from '../src/own-payments.js';

const COOKIE_SECONDS = 24 * 3_600;

/**
 * Stores the reference of this browser's payment in a cookie of the invoice's page (send-page.ts reads it): the server shows the
 * receipt, or the reason of a decline, only to this browser. Several references, because a bank may approve the older of two payments.
 * Called before the payment is sent, so that it does not depend on a response that may be lost. Without cookies the page shows that
 * the invoice is paid, but no receipt.
 *
 * @param callsPath base path of the invoice's page: `/c/<code>`
 */
export function storeOwnPayment(callsPath: string, reference: string): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  const kept = withOwnReference(document.cookie, reference);
  document.cookie = `${kept}; path=${callsPath}; max-age=${COOKIE_SECONDS}; samesite=lax${secure}`;
}
