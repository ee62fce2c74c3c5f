import { isIP } from 'node:net';

/** The website for which passkeys are created. A browser offers a passkey only to pages of this website. */
export interface RelyingParty {
  /** Host name of the console. */
  readonly id: string;
  /** Origin of the pages of the console. */
  readonly origin: string;
}

/**
 * The relying party at the address of the console. Browsers accept no IP address, so in development, where the address is
 * a loopback address, passkeys work only at `localhost`.
 */
export function relyingPartyAt(consoleUrl: string): RelyingParty {
  const url = new URL(consoleUrl);
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) url.hostname = 'localhost';
  return { id: url.hostname, origin: url.origin };
}

/**
 * The signature algorithms that are accepted: EdDSA, ES256 and RS256, by their numbers in COSE. The default of the library
 * adds ML-DSA, which is experimental in Node.js.
 */
export const ALGORITHMS = [-8, -7, -257];
