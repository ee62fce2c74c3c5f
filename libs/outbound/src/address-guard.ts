import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The addresses that this service may call for others (E7). Pure: no DNS query, no connection. Merchants choose the addresses, so
 * without this a merchant could direct a notification to our own network or to a cloud's metadata service.
 *
 * {@link checkUrl} checks the written address at every attempt; `guarded-connector.ts` calls {@link checkAddress} for every address
 * that a name resolves to and connects to one of those. Everything is checked in the canonical form of `new URL` (`http://0x7f.1` is
 * 127.0.0.1), and against a list of what is allowed: an unknown range is rejected.
 *
 * Not for: deciding whether a merchant may use an address at all; the session's creation does that.
 */
export interface AddressPolicy {
  /** Development mode: also loopback, plain http to it, and every port. No other private network. */
  readonly allowLoopback: boolean;
}

/** Why an address is rejected; part of the error class of the attempt. */
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

/** `URL.port` is empty for port 443 of https. */
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
  // A literal address needs no DNS query, so it is checked here.
  const refused = isIP(host) === 0 ? undefined : checkAddress(host, { ...policy, plain });
  return refused ? { refused } : { url };
}

/** The host of a URL in the form that a connection uses: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Why no connection to this IP address is allowed, or undefined if it is. `plain`: without TLS, which is only allowed for loopback.
 */
export function checkAddress(
  address: string,
  { allowLoopback, plain }: AddressPolicy & { plain: boolean },
): AddressRefusal | undefined {
  if (isIP(address) === 0 || address.includes('%')) return 'unreadable';
  const ip = ipaddr.parse(address);
  const range: string = ip.range();
  if (range === 'loopback') return allowLoopback ? undefined : 'loopback';
  if (range !== 'unicast') return REFUSAL_OF_RANGE[range] ?? 'reserved';
  if (METADATA.has(ip.toString())) return 'metadata';
  // Only 2000::/3 of IPv6 is assigned; any other address, such as ::a.b.c.d, reaches no host or the wrong one.
  if (ip.kind() === 'ipv6' && (ip.toByteArray()[0]! & 0xe0) !== 0x20) return 'reserved';
  if (ip.kind() === 'ipv6' && isIsatap(ip.toByteArray())) return 'ipv4-in-ipv6';
  return plain ? 'protocol' : undefined;
}

/** RFC 5214: an IPv4 address after 5EFE in the lower half, under any prefix; a host with ISATAP sends to that IPv4 address. */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** Names of ipaddr.js; any other is `reserved` (documentation, benchmarking, discard and the like). */
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
