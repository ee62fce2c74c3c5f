import { MAX_URL_LENGTH, type Mode } from '@svc/contracts';

/** Where the platform reaches Adyen in one mode. */
export interface AdyenSite {
  readonly mode: Mode;
  /** Base URL of the Checkout API. */
  readonly checkoutUrl: string;
}

/** A part of the names of Adyen's hosts of the other mode, such as `ca-test.adyen.com` and `ca-live.adyen.com`. */
const OTHER_MODE: Readonly<Record<Mode, RegExp>> = { test: /(^|[-.])live[-.]/, live: /(^|[-.])test[-.]/ };

/**
 * True for a URL of Adyen in this mode, or of the host that the operator has configured in Adyen's place. Payers are sent
 * to no other host, and reports are downloaded from no other host: a report of the other mode would get the password of
 * this one.
 */
export function isAdyenUrl(url: unknown, { mode, checkoutUrl }: AdyenSite): url is string {
  if (typeof url !== 'string' || url.length > MAX_URL_LENGTH) return false;
  const { protocol, hostname = '', username } = URL.parse(url) ?? {};
  const configured = new URL(checkoutUrl);
  const isAdyens = protocol === 'https:' && hostname.endsWith('.adyen.com') && !OTHER_MODE[mode].test(hostname);
  return username === '' && (isAdyens || (protocol === configured.protocol && hostname === configured.hostname));
}
