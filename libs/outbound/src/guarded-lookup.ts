import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressPolicy, type AddressRefusal, checkAddress } from './address-guard.js';

/** Returns every address of a host name. Throws if the name has no address. */
export type Resolve = (hostname: string) => Promise<string[]>;

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefused';

  constructor(readonly refusal: AddressRefusal) {
    super(`The address is refused: ${refusal}.`);
  }
}

/** Resolves a name to checked addresses only (E7). Node.js connects to the addresses that this function returns. */
export function guardedLookup(resolve: Resolve, policy: AddressPolicy & { plain: boolean }): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const refusal = addresses
          .map((address) => checkAddress(address, policy))
          .find((reason) => reason !== undefined);
        const [first] = addresses;
        if (first === undefined) return callback(new Error('The name has no address.'), '');
        if (refusal) return callback(new AddressRefusedError(refusal), '');
        if (options.all)
          return callback(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          );
        return callback(null, first, isIP(first));
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

const LOOKUP_TIMEOUT_MS = 1_000;
const MAX_ADDRESSES = 16;

/**
 * Returns a function that resolves names with queries to name servers: to `servers`, or else to the name servers of the
 * machine. Node.js's default, getaddrinfo, is not used, because it blocks one of Node.js's four worker threads while a
 * name server does not respond. Four names whose servers do not respond would delay the webhooks of all merchants (E6).
 * `localhost` is loopback by definition (RFC 6761) and is not queried.
 */
export function createResolver(servers?: readonly string[]): Resolve {
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '').toLowerCase();
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: 2 });
    if (servers) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])];
    if (addresses.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error('The name has no address.');
    return addresses.slice(0, MAX_ADDRESSES);
  };
}
