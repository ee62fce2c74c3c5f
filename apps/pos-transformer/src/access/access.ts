/** Who may call the transformer (A9). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { TransformerSettings } from '../settings.js';

export interface Caller {
  /** Remote address of the connection. */
  readonly address: string;
  /** The header x-api-key. */
  readonly apiKey: string | undefined;
  /** The header Host. */
  readonly host: string | undefined;
  /** The header Origin: a browser sends it with every POST. */
  readonly origin: string | undefined;
  /** The header Sec-Fetch-Site. */
  readonly fetchSite: string | undefined;
}

/**
 * The key is enough from every address; an allowed address needs no key. With neither configured, the transformer listens on
 * loopback only and no caller needs a key. Without the key, two checks protect against web pages that a browser in the store
 * opens. The Host header must be an IP address or the configured name, against DNS rebinding. The Origin must be the
 * transformer's own, against cross-site request forgery: `reset` has no body, so browsers send it without a CORS preflight.
 */
export function isCallerAllowed(
  { apiKey, allowedClients, publicUrl }: Pick<TransformerSettings, 'apiKey' | 'allowedClients' | 'publicUrl'>,
  caller: Caller,
): boolean {
  if (apiKey !== undefined && isSameKey(caller.apiKey, apiKey)) return true;
  const isAllowed = allowedClients ? isInNetworks(allowedClients, caller.address) : apiKey === undefined;
  return isAllowed && isOwnHost(caller.host, publicUrl) && isOwnPage(caller);
}

function isInNetworks(networks: NonNullable<TransformerSettings['allowedClients']>, address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) !== 0 && networks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

function isOwnHost(host: string | undefined, publicUrl: string | undefined): boolean {
  if (host === undefined) return false;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isIP(name) !== 0 || name === 'localhost' || (publicUrl !== undefined && name === new URL(publicUrl).hostname);
}

/** Whether the request comes from a page of the transformer itself, or from no page at all. */
function isOwnPage({ host, origin, fetchSite }: Caller): boolean {
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') return false;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Parse both with the same scheme, so that its default port is left out of both.
  const own = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(own) && originHost === new URL(own).host;
}

/** Constant-time comparison. */
function isSameKey(given: string | undefined, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(wanted));
}
