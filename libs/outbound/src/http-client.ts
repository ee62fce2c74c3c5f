import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buildRequestTarget } from '@svc/kernel';
import { hostOf } from './address-guard.js';
import { ConnectionPool, type ConnectionSettings } from './connection-pool.js';

export interface HttpClientSettings extends ConnectionSettings {
  /** Only this many bytes of a response body are read. */
  readonly maxResponseBytes: number;
}

interface OutboundRequest {
  readonly method: 'DELETE' | 'GET' | 'POST';
  readonly url: URL;
  /** The URL as it was configured. Path and query are sent as they are in this text. By default `url.href`. */
  readonly urlText?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum duration of the whole call: DNS, the wait for a connection, the request and the response. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OutboundResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The reason why the body is incomplete. */
  readonly bodyError?: Error;
}

export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  readonly code = 'REQUEST_TIMEOUT';
}

export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
  readonly code = 'RESPONSE_TOO_LARGE';
}

/** The server sent too many interim responses, or a final response with a status below 200. */
class InterimResponseError extends Error {
  override readonly name = 'InterimResponseError';
  readonly code = 'INTERIM_RESPONSE';
}

/**
 * Interim responses (status 1xx, RFC 9110) before the response. Proxies send 100 without being asked, and servers send
 * 103.
 */
const MAX_INTERIM_RESPONSES = 100;
/** Of each response and interim response. */
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;

/**
 * Calls servers of merchants, code providers and acquirers over HTTP/1.1 with a limited number of connections. Every
 * part of a response is limited. It does not follow redirects or decompress bodies. It uses node:http, because undici
 * closes the connection after status 100.
 */
export class HttpClient {
  private readonly pools: Readonly<Record<'http' | 'https', ConnectionPool>>;
  private readonly exchanges = new Set<Exchange>();

  constructor(private readonly settings: HttpClientSettings) {
    this.pools = { http: new ConnectionPool('http:', settings), https: new ConnectionPool('https:', settings) };
  }

  /**
   * Throws if there is no response. A response with an incomplete body is returned with the reason. The caller checks
   * the URL first (`checkUrl`).
   */
  call(request: OutboundRequest): Promise<OutboundResponse> {
    if (request.signal?.aborted) return Promise.reject(request.signal.reason as Error);
    const pool = request.url.protocol === 'http:' ? this.pools.http : this.pools.https;
    const { maxResponseBytes } = this.settings;
    const exchange: Exchange = new Exchange(send(request, pool), request, { pool, maxResponseBytes }, () =>
      this.exchanges.delete(exchange),
    );
    this.exchanges.add(exchange);
    return exchange.outcome;
  }

  /** Waits for the calls in flight, then closes all connections. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.exchanges].map(({ outcome }) => outcome));
    this.destroy();
  }

  /** Closes all connections. Calls in flight fail. */
  destroy(): void {
    for (const exchange of this.exchanges) exchange.end(new Error('The client was closed.'));
    this.pools.http.destroy();
    this.pools.https.destroy();
  }
}

function send(
  { method, url, urlText = url.href, headers, body }: OutboundRequest,
  agent: ConnectionPool,
): ClientRequest {
  const isPlain = url.protocol === 'http:';
  return (isPlain ? httpRequest : httpsRequest)({
    agent,
    host: hostOf(url),
    port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port),
    path: buildRequestTarget(urlText),
    method,
    headers: {
      ...headers,
      host: url.host,
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
  });
}

/** One request and its response. It ends once, and closes the connection if the response is incomplete. */
class Exchange {
  readonly outcome: Promise<OutboundResponse>;
  private response: IncomingMessage | undefined;
  private interimResponses = 0;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private hasEnded = false;
  private readonly timeout: NodeJS.Timeout | undefined;
  private readonly abort = (): void => this.end(this.signal?.reason);
  private readonly signal: AbortSignal | undefined;
  private resolve!: (response: OutboundResponse) => void;
  private reject!: (error: unknown) => void;

  constructor(
    private readonly request: ClientRequest,
    { body, timeoutMs, signal }: OutboundRequest,
    private readonly settings: { readonly pool: ConnectionPool; readonly maxResponseBytes: number },
    private readonly onEnd: () => void,
  ) {
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    request
      .on('error', (error) => this.end(error))
      .on('information', () => {
        if (++this.interimResponses > MAX_INTERIM_RESPONSES) this.end(new InterimResponseError());
      })
      .on('upgrade', (_response, socket) => {
        socket.destroy();
        this.end(new InterimResponseError());
      })
      .on('response', (response) => this.read(response));
    if (timeoutMs !== undefined) this.timeout = setTimeout(() => this.end(new RequestTimeoutError()), timeoutMs);
    this.signal = signal;
    signal?.addEventListener('abort', this.abort);
    request.end(body);
  }

  end(error?: unknown): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timeout);
    this.signal?.removeEventListener('abort', this.abort);
    this.onEnd();
    // After a response that arrives before the whole request is sent, the connection would stay in use for as long as
    // the server does not read.
    if (error !== undefined || !this.request.writableFinished) this.settings.pool.cancel(this.request);
    if (this.response === undefined) return this.reject(error);
    const { statusCode, headers } = this.response;
    const bodyError = error === undefined ? {} : { bodyError: error as Error };
    const body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.resolve({ statusCode: statusCode!, headers, body, ...bodyError });
  }

  private read(response: IncomingMessage): void {
    if (response.statusCode! < 200) return this.end(new InterimResponseError());
    this.response = response;
    const { pool, maxResponseBytes } = this.settings;
    const keepAlive = response.headers['keep-alive'];
    if (keepAlive !== undefined) pool.limitKeepAlive(response.socket, String(keepAlive));
    response
      .on('data', (chunk: Buffer) => {
        this.chunks.push(chunk.subarray(0, maxResponseBytes - this.bytes));
        this.bytes += chunk.length;
        if (this.bytes > maxResponseBytes) this.end(new ResponseTooLargeError());
      })
      .on('error', (error) => this.end(error))
      .on('end', () => this.end());
  }
}
