import { Agent, type ClientRequest } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AddressPolicy, checkAddress } from './address-guard.js';
import { AddressRefusedError, createResolver, guardedLookup, type Resolve } from './guarded-lookup.js';

export interface ConnectionSettings {
  /** Which addresses may be called (E7). Undefined for a URL of the operator that is not checked. */
  readonly policy: AddressPolicy | undefined;
  /** Timeout for DNS, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Further requests to a host and port wait. */
  readonly maxConnectionsPerOrigin: number;
  /** An idle connection is closed after this time, or earlier if the server has sent a header `Keep-Alive`. */
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

/** The connections to one host and port. */
interface Origin {
  readonly host: string;
  readonly port: number;
  /** Number of connections, idle or not. */
  connections: number;
  /** The connection that was used last is used first. */
  readonly idle: Socket[];
  readonly waiting: Set<ClientRequest>;
  /** For the resumption of TLS. */
  session?: Buffer;
}

/** Begins to close an idle connection earlier than the server, so that no request meets a closed connection. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/**
 * An agent for node:http that keeps connections open, and connects only to checked addresses (E7). A name is resolved
 * once for a connection, and the socket connects to the addresses that were checked. So the name server cannot return a
 * different address after the check (DNS rebinding). If one address of a name is refused, the name is refused, because
 * its owner could otherwise influence which address is used.
 *
 * The Agent of Node.js needs twice as much processor time for a request as this pool, because it supports options for
 * each request.
 */
export class ConnectionPool extends Agent {
  readonly #settings: ConnectionSettings & { readonly resolve: Resolve };
  readonly #isPlain: boolean;
  readonly #origins = new Map<string, Origin>();
  /** The time at which an idle connection must be closed. */
  readonly #idleUntil = new WeakMap<Socket, number>();
  readonly #serverLimits = new WeakMap<Socket, number>();
  readonly #waitingAt = new WeakMap<ClientRequest, Origin>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(protocol: 'http:' | 'https:', settings: ConnectionSettings) {
    super({ keepAlive: true });
    this.#settings = { resolve: createResolver(), ...settings };
    this.#isPlain = protocol === 'http:';
    // ClientRequest compares this property with the protocol of the request.
    Object.assign(this, { protocol });
  }

  /** Called by ClientRequest. It either gets a connection, or waits for one. */
  addRequest(request: ClientRequest, { host, port }: { readonly host: string; readonly port: number }): void {
    const origin = this.#getOrigin(host, port);
    const idle = this.#takeIdle(origin);
    if (idle) request.onSocket(idle);
    else if (origin.connections < this.#settings.maxConnectionsPerOrigin) this.#connectFor(origin, request);
    else {
      origin.waiting.add(request);
      this.#waitingAt.set(request, origin);
    }
  }

  /** Ends the request, and closes its connection. A request that waits for a connection waits no longer. */
  cancel(request: ClientRequest): void {
    this.#waitingAt.get(request)?.waiting.delete(request);
    request.destroy();
  }

  /** Limits how long the connection may be idle, if the server has sent a header `Keep-Alive: timeout=…`. */
  limitKeepAlive(socket: Socket, header: string): void {
    const seconds = /\btimeout=(\d{1,6})/i.exec(header)?.[1];
    const limitMs = Number(seconds) * 1_000 - KEEP_ALIVE_MARGIN_MS;
    if (limitMs < this.#settings.keepAliveMs) this.#serverLimits.set(socket, limitMs);
  }

  override destroy(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    for (const { idle } of this.#origins.values()) for (const socket of [...idle]) socket.destroy();
  }

  #getOrigin(host: string, port: number): Origin {
    const name = `${host}:${port}`;
    let origin = this.#origins.get(name);
    if (origin === undefined)
      this.#origins.set(name, (origin = { host, port, connections: 0, idle: [], waiting: new Set() }));
    return origin;
  }

  #takeIdle({ idle }: Origin): Socket | undefined {
    for (let socket = idle.pop(); socket !== undefined; socket = idle.pop()) {
      socket.removeListener('data', destroyThis);
      if (!socket.destroyed && this.#idleUntil.get(socket)! > performance.now()) return socket.ref();
      socket.destroy();
    }
    return undefined;
  }

  #connectFor(origin: Origin, request: ClientRequest): void {
    const socket = this.#connect(origin);
    if (socket instanceof Error) {
      this.#forgetUnused(origin);
      return failWithoutSocket(request, socket);
    }
    origin.connections++;
    socket
      .on('free', () => this.#release(origin, socket))
      .on('close', () => this.#remove(origin, socket))
      // Errors of a connection with a request are reported by the request.
      .on('error', () => undefined);
    request.onSocket(socket);
  }

  #connect(origin: Origin): Socket | Error {
    const { policy, connectTimeoutMs, resolve } = this.#settings;
    const { host, port } = origin;
    const address = policy && { ...policy, plain: this.#isPlain };
    // A literal IP address is checked here, because the lookup is not called for it.
    const refusal = address && isIP(host) !== 0 ? checkAddress(host, address) : undefined;
    if (refusal) return new AddressRefusedError(refusal);
    const lookup = address ? { lookup: guardedLookup(resolve, address) } : {};
    const options = { host, port, ...lookup, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
    const socket = this.#isPlain
      ? connectTcp(options)
      : connectTls({
          ...options,
          servername: isIP(host) === 0 ? host : '',
          ALPNProtocols: ['http/1.1'],
          ...(origin.session ? { session: origin.session } : {}),
        }).on('session', (session) => (origin.session = session));
    const timeout = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectTimeoutMs);
    const clear = (): void => clearTimeout(timeout);
    return socket.once(this.#isPlain ? 'connect' : 'secureConnect', clear).once('close', clear);
  }

  /** The response has been read: the next request uses the connection, or it becomes idle. */
  #release(origin: Origin, socket: Socket): void {
    const { keepAliveMs } = this.#settings;
    const idleMs = Math.min(keepAliveMs, this.#serverLimits.get(socket) ?? keepAliveMs);
    if (socket.destroyed || !socket.writable || idleMs <= 0) return void socket.destroy();
    const next = takeWaiting(origin);
    if (next) return next.onSocket(socket);
    this.#idleUntil.set(socket, performance.now() + idleMs);
    // Bytes that arrive before the next request would be read as its response.
    origin.idle.push(socket.on('data', destroyThis).unref());
    this.#sweep ??= setInterval(() => this.#closeExpired(), 1_000).unref();
  }

  #remove(origin: Origin, socket: Socket): void {
    origin.connections--;
    const index = origin.idle.indexOf(socket);
    if (index >= 0) origin.idle.splice(index, 1);
    const next = takeWaiting(origin);
    if (next) this.#connectFor(origin, next);
    else this.#forgetUnused(origin);
  }

  #forgetUnused({ host, port, connections }: Origin): void {
    if (connections > 0) return;
    this.#origins.delete(`${host}:${port}`);
    if (this.#origins.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #closeExpired(): void {
    const now = performance.now();
    for (const { idle } of this.#origins.values())
      for (const socket of [...idle]) if (this.#idleUntil.get(socket)! <= now) socket.destroy();
  }
}

function takeWaiting({ waiting }: Origin): ClientRequest | undefined {
  const [request] = waiting;
  if (request) waiting.delete(request);
  return request;
}

/** Node.js's agents use this second parameter in the same way. It is missing in the types. */
function failWithoutSocket(request: ClientRequest, error: Error): void {
  (request as unknown as { onSocket(socket: undefined, error: Error): void }).onSocket(undefined, error);
}

function destroyThis(this: Socket): void {
  this.destroy();
}
