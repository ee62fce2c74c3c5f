import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Protection against server-side request forgery: the addresses that the platform may call (E7). Pure: no DNS, no connection.
 * Merchants choose the addresses, so without this a webhook could call our own network or a cloud's metadata service.
 *
 * {@link checkUrl} checks the URL before every attempt; `guarded-connector.ts` calls {@link checkAddress} for every address to which
 * a name resolves, and connects to one of those. Both check the canonical form that `new URL` produces (`http://0x7f.1` is
 * 127.0.0.1), against a list of allowed ranges: an unknown range is refused.
 *
 * Not for deciding whether a merchant may use an address at all; that is checked when the session is created.
 */
export interface AddressPolicy {
  /** Development mode: allows loopback, plain http to it, and every port, but no other private address. */
  readonly allowLoopback: boolean;
  /** Development mode: allows private addresses too, with plain http, for an address that the operator configured. */
  readonly allowPrivate?: boolean;
}

/** Why an address is refused; part of the error class of the attempt. */
export type AddressRefusal =
  | 'unreadable'
  | 'protocol'
  | 'credentials'
  | 'port'
  | 'unspecified'
  | 'broadcast'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'unique-local'
  | 'carrier-grade-nat'
  | 'multicast'
  | 'ipv4-in-ipv6'
  | 'metadata'
  | 'reserved';

export type UrlVerdict =
  { readonly url: URL; readonly refused?: never } | { readonly url?: never; readonly refused: AddressRefusal };

/** `URL.port` is empty for 443. */
const PORTS: ReadonlySet<string> = new Set(['', '8443']);

export function checkUrl(written: string, policy: AddressPolicy): UrlVerdict {
  if (!URL.canParse(written)) return { refused: 'unreadable' };
  const url = new URL(written);
  const plain = url.protocol === 'http:';
  if (!plain && url.protocol !== 'https:') return { refused: 'protocol' };
  if (plain && !policy.allowLoopback) return { refused: 'protocol' };
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' };
  if (!policy.allowLoopback && !PORTS.has(url.port)) return { refused: 'port' };
  if (url.port === '0') return { refused: 'port' };

  const host = hostOf(url);
  // A literal address causes no DNS lookup, so it is checked here.
  const refused = isIP(host) === 0 ? undefined : checkAddress(host, { ...policy, plain });
  return refused ? { refused } : { url };
}

/** The host of a URL for a connection: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Why no connection may be made to this IP address; undefined if it is allowed. `plain` means without TLS, which is allowed only to
 * loopback.
 */
export function checkAddress(
  address: string,
  { allowLoopback, allowPrivate = false, plain }: AddressPolicy & { plain: boolean },
): AddressRefusal | undefined {
  if (isIP(address) === 0 || address.includes('%')) return 'unreadable';
  const ip = ipaddr.parse(address);
  const range: string = ip.range();
  if (range === 'loopback') return allowLoopback ? undefined : 'loopback';
  if (range === 'private' && allowPrivate) return undefined;
  if (range !== 'unicast') return REFUSAL_OF_RANGE[range] ?? 'reserved';
  if (METADATA.has(ip.toString())) return 'metadata';
  // Only 2000::/3 is allocated for global unicast. Other ranges, such as ::a.b.c.d, reach no host or the wrong one.
  if (ip.kind() === 'ipv6' && (ip.toByteArray()[0]! & 0xe0) !== 0x20) return 'reserved';
  if (ip.kind() === 'ipv6' && isIsatap(ip.toByteArray())) return 'ipv4-in-ipv6';
  return plain ? 'protocol' : undefined;
}

/** RFC 5214: an IPv4 address after 5EFE in the lower half, with any prefix. A host that supports ISATAP connects to that address. */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** Range names of ipaddr.js; all other ranges are `reserved` (documentation, benchmarking, discard and the like). */
const REFUSAL_OF_RANGE: Readonly<Record<string, AddressRefusal>> = {
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  private: 'private',
  linkLocal: 'link-local',
  deprecatedSiteLocal: 'private',
  uniqueLocal: 'unique-local',
  carrierGradeNat: 'carrier-grade-nat',
  multicast: 'multicast',
  ipv4Mapped: 'ipv4-in-ipv6',
  rfc6145: 'ipv4-in-ipv6',
  rfc6052: 'ipv4-in-ipv6',
  '6to4': 'ipv4-in-ipv6',
  teredo: 'ipv4-in-ipv6',
};

/** Metadata services of clouds at public addresses; the others are link-local, unique-local or carrier-grade NAT. */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16']);
