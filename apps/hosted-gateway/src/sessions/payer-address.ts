import { ownCodeText } from '@svc/kernel';
import type { HostedGatewayConfig } from '../config.js';

/**
 * The address of a payment page: `/pay?sessionId=` after a redirect from the shop, or `/c/<code>` on a device that scanned the
 * code (D5). Both show the same state. Only the first offers a link back to the shop, because it runs in the shop's browser tab.
 */
export type PayerAddress = { readonly sessionId: string } | { readonly code: string };

export function isScanned(address: PayerAddress): address is { readonly code: string } {
  return 'code' in address;
}

/** Base path for the calls of the page's script. Each page uses its own kind of address: neither reveals the other. */
export function callsPathOf(address: PayerAddress): string {
  return isScanned(address) ? `/c/${address.code}` : `/pay/${address.sessionId}`;
}

/** URL of the page, to which the bank redirects the payer. @param lang the page's language, if its address contains one */
export function pageUrlOf(
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
