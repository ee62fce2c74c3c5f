import { ownCodeText } from '@svc/kernel';
import type { HostedGatewayConfig } from '../config.js';

/**
 * The address of a payment page: `/pay?sessionId=` after a redirect from the shop, or `/c/<code>` on a device that
 * scanned a code (D5). Both pages show the same state. Only the page for a session id has a link back to the shop,
 * because it is open in the browser tab of the shop.
 */
export type PayerAddress = { readonly sessionId: string } | { readonly code: string };

export function isScanned(address: PayerAddress): address is { readonly code: string } {
  return 'code' in address;
}

/** Base path for the calls of the page's script. Contains the session id or the code, as the address of the page does. */
export function buildCallsPath(address: PayerAddress): string {
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
      ? ownCodeText(address.code, SVC_CODES_URL)
      : `${SVC_GATEWAY_URL}/pay?sessionId=${address.sessionId}`,
  );
  if (lang !== undefined) url.searchParams.set('lang', lang);
  return url.href;
}
