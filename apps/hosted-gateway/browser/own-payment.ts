import { addOwnReference } from '../src/own-payments.js';

const COOKIE_SECONDS = 24 * 3_600;

/**
 * Stores the reference of this browser's payment in a cookie of the invoice's page. The server reads the cookie
 * (send-page.ts) and shows the receipt, or the reason of a decline, only to this browser. The cookie contains several
 * references, because a bank may approve the older of two payments. Call this function before the payment is sent,
 * because the response may be lost. If the browser rejects cookies, the page shows that the invoice is paid, but no
 * receipt.
 *
 * @param callsPath base path of the invoice's page: `/c/<code>`, or the path of a static code's page
 */
export function storeOwnPayment(callsPath: string, reference: string): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  const cookie = addOwnReference(document.cookie, reference);
  document.cookie = `${cookie}; path=${callsPath}; max-age=${COOKIE_SECONDS}; samesite=lax${secure}`;
}
