import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Which addresses others may have us call (E7). Pure: no look-up, no connection. Merchants write the addresses,
 * so without this a notification could be pointed at our own network or at a cloud's metadata service.
 *
 * {@link checkUrl} judges the written address at every try; `guarded-connector.ts` asks {@link checkAddress} about
 * every address a name resolves to and connects to one of those. Everything is judged in the canonical form that
 * `new URL` makes (`http://0x7f.1` is 127.0.0.1), and by what is allowed, not by what is forbidden: a range that
 * nobody thought of is refused.
 *
 * Not for: deciding whether a merchant may use an address at all; that is settled when the session is created.
 */
export interface AddressPolicy {
  /** Development mode: loopback, plain http to it, and every port. Nothing else of a private network. */
  readonly allowLoopback: boolean;
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

/** A URL of https has no text for 443. */
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
  // A literal address never gets as far as a look-up, so it is judged here.
  const refused = isIP(host) === 0 ? undefined : checkAddress(host, { ...policy, plain });
  return refused ? { refused } : { url };
}

/** The host of a URL as a connection names it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Why no connection may be made to this IP address, or undefined when one may. `plain`: without TLS, which only
 * loopback may be spoken to with.
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
  // Of IPv6 only 2000::/3 is given out; what is left, ::a.b.c.d among it, reaches nobody or the wrong one.
  if (ip.kind() === 'ipv6' && (ip.toByteArray()[0]! & 0xe0) !== 0x20) return 'reserved';
  if (ip.kind() === 'ipv6' && isIsatap(ip.toByteArray())) return 'ipv4-in-ipv6';
  return plain ? 'protocol' : undefined;
}

/** RFC 5214: an IPv4 address behind 5EFE in the lower half, under any prefix; a host that speaks it goes to that address. */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/** Names of ipaddr.js; what is not listed is `reserved` (documentation, benchmarking, discard and the like). */
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
