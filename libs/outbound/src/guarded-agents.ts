import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AddressPolicy, checkAddress } from './address-guard.js';
import { AddressRefusedError, createResolver, guardedLookup, type Resolve } from './guarded-lookup.js';

export interface ConnectionSettings {
  /** Which addresses may be called (E7). Undefined for a URL of the operator that is not checked. */
  readonly policy: AddressPolicy | undefined;
  /** Timeout for DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  readonly maxConnectionsPerOrigin: number;
  /** An idle connection is closed after this time, or earlier if the server says so in a header `Keep-Alive`. */
  readonly keepAliveMs: number;
  readonly resolve?: Resolve;
}

export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
  readonly code = 'CONNECT_TIMEOUT';

  constructor() {
    super('The connection was not established in time.');
  }
}

type Callback = (error: Error | null, stream: Duplex) => void;
type Connection = Duplex | null | undefined;

/**
 * Creates the agents of node:http and node:https, whose connections lead to checked addresses (E7). A name is resolved
 * once, and the socket connects to the addresses that were checked. So the name server cannot return a different
 * address after the check (DNS rebinding). If one address of a name is refused, the name is refused, because its owner
 * could otherwise influence which address is used.
 */
export function createGuardedAgents(settings: ConnectionSettings): {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
} {
  const { maxConnectionsPerOrigin: maxSockets, keepAliveMs: timeout, resolve = createResolver() } = settings;
  // The timeout only closes idle connections, because requests have no listener for it.
  const options: AgentOptions = { keepAlive: true, maxSockets, timeout };
  const connect = { ...settings, resolve };
  return { http: new GuardedHttpAgent(connect, options), https: new GuardedHttpsAgent(connect, options) };
}

type ConnectSettings = ConnectionSettings & { readonly resolve: Resolve };

class GuardedHttpAgent extends HttpAgent {
  constructor(
    private readonly settings: ConnectSettings,
    options: AgentOptions,
  ) {
    super(options);
  }

  /** All requests of an agent have the same options, so host and port are enough. Node.js would join all options. */
  override getName(options?: ClientRequestArgs): string {
    return `${options?.host}:${options?.port}`;
  }

  override createConnection(options: ClientRequestArgs, callback?: Callback): Connection {
    return connectGuarded({ ...this.settings, plain: true }, options, callback, (guarded) =>
      super.createConnection(guarded, callback),
    );
  }
}

class GuardedHttpsAgent extends HttpsAgent {
  constructor(
    private readonly settings: ConnectSettings,
    options: AgentOptions,
  ) {
    super(options);
  }

  override getName(options?: RequestOptions): string {
    return `${options?.host}:${options?.port}`;
  }

  override createConnection(options: RequestOptions, callback?: Callback): Connection {
    return connectGuarded({ ...this.settings, plain: false }, options, callback, (guarded) =>
      super.createConnection(guarded, callback),
    );
  }
}

function connectGuarded<T extends ClientRequestArgs>(
  { policy, connectTimeoutMs, resolve, plain }: ConnectSettings & { plain: boolean },
  options: T,
  callback: Callback | undefined,
  connect: (options: T) => Connection,
): Connection {
  if (policy === undefined) return withConnectTimeout(connect(options), connectTimeoutMs, plain);
  const address = { ...policy, plain };
  // A literal IP address is checked here, because the lookup is not called for it.
  const host = options.host ?? '';
  const refusal = isIP(host) === 0 ? undefined : checkAddress(host, address);
  if (refusal) {
    callback?.(new AddressRefusedError(refusal), undefined as unknown as Duplex);
    return undefined;
  }
  const guarded = { ...options, lookup: guardedLookup(resolve, address) };
  return withConnectTimeout(connect(guarded), connectTimeoutMs, plain);
}

function withConnectTimeout(socket: Connection, connectTimeoutMs: number, plain: boolean): Connection {
  if (!socket) return socket;
  const timeout = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectTimeoutMs);
  const clear = (): void => clearTimeout(timeout);
  return socket.once(plain ? 'connect' : 'secureConnect', clear).once('close', clear);
}
