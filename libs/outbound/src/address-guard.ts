import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Protection against server-side request forgery (E7): checks which addresses the platform may call. Merchants choose
 * the URLs of webhooks. Without these checks, a webhook could call the platform's own network or the metadata service
 * of a cloud. The functions in this file make no DNS query and no connection.
 *
 * {@link checkUrl} checks the URL before every attempt. `connection-pool.ts` then calls {@link checkAddress} for each
 * IP address of the host name, and connects only to checked addresses. Both functions check the canonical form that
 * `new URL` produces (`http://0x7f.1` is 127.0.0.1). Only known ranges are allowed. An unknown range is refused.
 *
 * These functions do not check whether a merchant may use a URL. That is checked when the session is created.
 */
export interface AddressPolicy {
  /**
   * True in development: allows loopback addresses, http to loopback addresses, and every port. Other private addresses
   * stay forbidden.
   */
  readonly allowLoopback: boolean;
  /** True in development for a URL that the operator configured: also allows private addresses, with http too. */
  readonly allowPrivate?: boolean;
}

/** Reason why an address is refused. The error class of a delivery attempt contains this reason. */
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

type UrlVerdict =
  { readonly url: URL; readonly refused?: never } | { readonly url?: never; readonly refused: AddressRefusal };

/** `URL.port` is empty for 443. */
const PORTS: ReadonlySet<string> = new Set(['', '8443']);

export function checkUrl(text: string, policy: AddressPolicy): UrlVerdict {
  const url = URL.parse(text);
  if (url === null) return { refused: 'unreadable' };
  const plain = url.protocol === 'http:';
  if (!plain && url.protocol !== 'https:') return { refused: 'protocol' };
  if (plain && !policy.allowLoopback) return { refused: 'protocol' };
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' };
  if (!policy.allowLoopback && !PORTS.has(url.port)) return { refused: 'port' };
  if (url.port === '0') return { refused: 'port' };

  const host = hostOf(url);
  // A literal IP address causes no DNS lookup, so it is checked here.
  const refused = isIP(host) === 0 ? undefined : checkAddress(host, { ...policy, plain });
  return refused ? { refused } : { url };
}

/** The host of a URL for a connection: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Returns the reason why a connection to this IP address is refused, or undefined if it is allowed. `plain` means a
 * connection without TLS, which is allowed only to loopback addresses.
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
  // Only 2000::/3 is allocated for global unicast. An address in another range, such as ::a.b.c.d, may lead to a host
  // that must not be called.
  if (ip.kind() === 'ipv6' && (ip.toByteArray()[0]! & 0xe0) !== 0x20) return 'reserved';
  if (ip.kind() === 'ipv6' && isIsatap(ip.toByteArray())) return 'ipv4-in-ipv6';
  return plain ? 'protocol' : undefined;
}

/**
 * Whether an address is an ISATAP address (RFC 5214). The lower half of such an address contains 5EFE and an IPv4
 * address. A host that supports ISATAP would connect to that IPv4 address.
 */
function isIsatap(bytes: readonly number[]): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

/**
 * The reason for each range name of ipaddr.js. All other ranges (for example for documentation and benchmarking) are
 * `reserved`.
 */
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

/**
 * Public addresses of cloud metadata services. Other metadata services have addresses in ranges that are refused
 * anyway.
 */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16']);
