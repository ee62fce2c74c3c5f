import { ownCodeText } from '@svc/kernel';
import type { HostedGatewayConfig } from '../config.js';

/**
 * How a payer comes to a session: sent by the shop, to `/pay?sessionId=`, or with a device that has scanned the code, to
 * `/c/<code>` (D5). Both are one page in the same state; only the first can go back to the shop, whose browser it is in.
 */
export type PayerAddress = { readonly sessionId: string } | { readonly code: string };

export function isScanned(address: PayerAddress): address is { readonly code: string } {
  return 'code' in address;
}

/** Where the calls of the page's script begin: same origin, so that a session's page never names the phone's, nor the other way round. */
export function callsPathOf(address: PayerAddress): string {
  return isScanned(address) ? `/c/${address.code}` : `/pay/${address.sessionId}`;
}

/** The page itself: where the bank leads back to. @param lang its language, where its address names one */
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
