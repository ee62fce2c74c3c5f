/** Decides which callers may use the transformer (A9). */
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
 * A caller with the key may use any address. A caller from an allowed address needs no key. If neither a key nor
 * addresses are configured, the transformer listens on loopback only, and no caller needs a key.
 *
 * For a caller without the key, two checks protect against web pages that are open in a browser of the store:
 * - Against DNS rebinding, the Host header must be an IP address, `localhost` or the configured name.
 * - Against cross-site request forgery, the Origin must be the origin of the transformer. CORS alone is not enough,
 *   because browsers send `reset`, which has no body, without a preflight.
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
  // `check` also finds an IPv4 address in IPv6 notation (`::ffff:192.168.1.7`). An invalid address is in no network.
  return networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function isOwnHost(host: string | undefined, publicUrl: string | undefined): boolean {
  if (host === undefined) return false;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isIP(name) !== 0 || name === 'localhost' || (publicUrl !== undefined && name === new URL(publicUrl).hostname);
}

/** Whether the request comes from a page of the transformer, or from a client that is no browser. */
function isOwnPage({ host, origin, fetchSite }: Caller): boolean {
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') return false;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Host is parsed with the scheme of Origin, because `URL` then omits the default port of the scheme from both.
  const ownUrl = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(ownUrl) && originHost === new URL(ownUrl).host;
}

/** Constant-time comparison. */
function isSameKey(receivedKey: string | undefined, expectedKey: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return receivedKey !== undefined && timingSafeEqual(digest(receivedKey), digest(expectedKey));
}
