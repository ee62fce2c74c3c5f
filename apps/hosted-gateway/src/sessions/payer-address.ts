import type { HostedGatewayConfig } from '../config.js';

/**
 * The address of a payment page: `/pay?sessionId=` after a redirect from the shop, or `/c/<code>` on a device that
 * scanned a code (D5). Both pages show the same state. Only the page for a session id has a link back to the shop,
 * because it is open in the browser tab of the shop.
 */
export type PayerAddress = { readonly sessionId: string } | CodeAddress | StaticCodeAddress;

/** The code of a session or of an invoice. */
interface CodeAddress {
  readonly code: string;
}

/**
 * The static code of a till, and the invoice to which it led when the payer scanned it:
 * `/c/<code>/invoices/<invoiceReference>`. The address does not contain the code of the invoice. It stays the same when
 * the till has its next invoice, so that the payer never pays the basket of the next customer.
 */
interface StaticCodeAddress extends CodeAddress {
  readonly invoiceReference: string;
}

export function isScanned(address: PayerAddress): address is CodeAddress | StaticCodeAddress {
  return 'code' in address;
}

export function isStaticCode(address: PayerAddress): address is StaticCodeAddress {
  return 'invoiceReference' in address;
}

/** Base path for the calls of the page's script. Contains the session id or the code, as the address of the page does. */
export function buildCallsPath(address: PayerAddress): string {
  if (isStaticCode(address)) return `/c/${address.code}/invoices/${address.invoiceReference}`;
  return isScanned(address) ? `/c/${address.code}` : `/pay/${address.sessionId}`;
}

/**
 * URL of the page, to which the bank redirects the payer.
 *
 * @param lang the language, if the address of the page contains one
 */
export function buildPageUrl(
  address: PayerAddress,
  { SVC_CODES_URL, SVC_GATEWAY_URL }: Pick<HostedGatewayConfig, 'SVC_CODES_URL' | 'SVC_GATEWAY_URL'>,
  lang?: string,
): string {
  const url = new URL(
    isScanned(address)
      ? `${SVC_CODES_URL}${buildCallsPath(address)}`
      : `${SVC_GATEWAY_URL}/pay?sessionId=${address.sessionId}`,
  );
  if (lang !== undefined) url.searchParams.set('lang', lang);
  return url.href;
}
