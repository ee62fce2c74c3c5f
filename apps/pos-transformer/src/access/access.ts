/** Who may call the transformer (A9). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { TransformerSettings } from '../settings.js';

export interface Caller {
  /** Of the connection. */
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
 * The key is enough from every address; an allowed address needs no key. On loopback, with neither configured, no caller does.
 * Without the key the host has to be an address, or the configured name: a page on the internet that a browser in the store
 * opens must not reach the transformer under a name of its own (DNS rebinding). Nor may such a page send a form or a request to
 * the transformer's address: `reset` needs no body, so a browser asks for no permission first (cross-site request forgery).
 */
export function mayCall(
  { apiKey, allowedClients, publicUrl }: Pick<TransformerSettings, 'apiKey' | 'allowedClients' | 'publicUrl'>,
  caller: Caller,
): boolean {
  if (apiKey !== undefined && isSame(caller.apiKey, apiKey)) return true;
  const isAllowed = allowedClients ? isListed(allowedClients, caller.address) : apiKey === undefined;
  return isAllowed && isOwnHost(caller.host, publicUrl) && isOwnPage(caller);
}

function isListed(networks: NonNullable<TransformerSettings['allowedClients']>, address: string): boolean {
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

/** Whether the request is of a page of the transformer itself, or of no page at all. */
function isOwnPage({ host, origin, fetchSite }: Caller): boolean {
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') return false;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Parsed with the same scheme, so that its default port is left out of both.
  const own = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(own) && originHost === new URL(own).host;
}

/** In the same time for every wrong key. */
function isSame(given: string | undefined, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(wanted));
}
