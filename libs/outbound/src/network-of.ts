import ipaddr from 'ipaddr.js';

/**
 * The network of a caller, for limits: an IPv4 address such as `192.0.2.7`, or the first 64 bits of an IPv6 address
 * such as `2001:db8:0:0`, because a caller has all addresses of such a network. Undefined for an invalid address.
 */
export function networkOf(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const ip = ipaddr.process(address);
  return ip instanceof ipaddr.IPv6
    ? ip.parts
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')
    : ip.toString();
}
