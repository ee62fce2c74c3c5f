import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressPolicy, type AddressRefusal, checkAddress } from './address-guard.js';

/** Returns every address of a host name. Throws if the name has no address. */
export type Resolve = (hostname: string) => Promise<string[]>;

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefused';

  constructor(readonly refusal: AddressRefusal) {
    super(`The address is refused: ${refusal}.`);
  }
}

export interface ConnectorSettings {
  readonly policy: AddressPolicy;
  /** Timeout for DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  readonly resolve?: Resolve;
}

/**
 * Creates undici's connections, each to a checked address (E7). A name is resolved once, and the socket connects to the
 * addresses that were checked. So the name server cannot return a different address after the check (DNS rebinding). If
 * one address of a name is refused, the name is refused, because its owner could otherwise influence which address is
 * used.
 */
export function guardedConnector({
  policy,
  connectTimeoutMs,
  resolve = createResolver(),
}: ConnectorSettings): buildConnector.connector {
  const connectors = { plain: connector(true), tls: connector(false) };

  function connector(plain: boolean): buildConnector.connector {
    // Only HTTP/1.1 is allowed, because the limits for responses are limits of the HTTP/1.1 parser.
    return buildConnector({
      timeout: connectTimeoutMs,
      allowH2: false,
      lookup: guardedLookup(resolve, { ...policy, plain }),
    });
  }

  return (options, callback) => {
    const plain = options.protocol === 'http:';
    // A literal IP address is checked here, because the lookup is not called for it.
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const refusal = isIP(host) === 0 ? undefined : checkAddress(host, { ...policy, plain });
    if (refusal) return callback(new AddressRefusedError(refusal), null);
    return (plain ? connectors.plain : connectors.tls)(options, callback);
  };
}

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
