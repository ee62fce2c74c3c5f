/**
 * A reverse proxy for all hosts of the platform: it forwards each request over HTTP to the app that the route table names. It
 * does not authenticate, cache or rewrite bodies. `./svc up --distributed` runs it; compose and Kubernetes use other proxies,
 * whose rules are generated from the same table (deploy/).
 */
import replyFrom from '@fastify/reply-from';
import { trace } from '@opentelemetry/api';
import type { Host } from '@svc/contracts';
import { appForAddress, NOT_FOUND, type ServiceLog, type TlsOptions } from '@svc/service';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AppDraining } from './draining.js';
import { proxyErrorOf, sendProxyError, wasNeverSent } from './proxy-errors.js';
import { readinessOf } from './readiness.js';

export interface Front {
  readonly host: Host;
  /** Origin of each app, `http://host:port`, by its folder name. */
  readonly upstreams: ReadonlyMap<string, string>;
  readonly draining: AppDraining;
  readonly log: ServiceLog;
  /** Address of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Without it the listener uses plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/** As in the listener of all-in-one: a client that sends very slowly must not keep a file descriptor for long. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 5_000;
/**
 * The front buffers bodies until the app has answered, so that a request can wait for an app that restarts. The limit is twice
 * that of the apps (C6): bodies between the two limits get the error of the app.
 */
const MAX_BODY_BYTES = 512 * 1024;
/**
 * `POST /v1/payments` answers within about 20 s (P6). Streams send a heartbeat every 15 s: this bounds the silence within an
 * answer, not its length.
 */
const UPSTREAM_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** A shutdown waits at most this long for requests in flight. */
const SHUTDOWN_TIMEOUT_MS = 10_000;
/** Connections to one app. Each open event stream keeps one: a replica has up to 1 000 streams (M6). */
const MAX_UPSTREAM_CONNECTIONS = 2_048;
/** Retries of a request whose connection was refused. */
const RETRY_INTERVAL_MS = 200;
const MAX_RETRIES = 25;

/** Hop-by-hop headers, and headers that the front sets. The client's own X-Forwarded-For cannot be trusted. */
const NOT_FORWARDED = [
  'connection',
  'expect',
  'forwarded',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/** One listener for a host, not yet listening. */
export function newFront(front: Front): FastifyInstance {
  const fastify = newServer(front.tls);
  fastify.server.maxConnections = MAX_CONNECTIONS;
  const streams = closeGracefully(fastify);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  void fastify.register(replyFrom, {
    disableRequestLogging: true,
    disableCache: true,
    // Closing must not destroy the connections to the apps: it begins before the requests in flight have completed.
    destroyAgent: false,
    undici: {
      connections: MAX_UPSTREAM_CONNECTIONS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: UPSTREAM_TIMEOUT_MS,
      bodyTimeout: UPSTREAM_TIMEOUT_MS,
    },
  });
  fastify.setErrorHandler((error, request, reply) => sendProxyError(front, request, reply, proxyErrorOf(error)));
  // Registered in a plugin of its own, so that `reply.from` of the plugin above exists.
  void fastify.register((routes, _options, done) => {
    routes.all('/', (request, reply) => handle({ ...front, streams }, request, reply));
    done();
  });
  fastify.setNotFoundHandler((request, reply) => sendProxyError(front, request, reply, NOT_FOUND));
  return fastify;
}

function newServer(tls: TlsOptions | undefined): FastifyInstance {
  const limits = { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 5_000 };
  const options = {
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    // The route table routes by the path as it was sent. Fastify's router would normalise it.
    rewriteUrl: () => '/',
  };
  if (tls === undefined) return Fastify({ ...options, http: limits });
  return Fastify({ ...options, https: { ...limits, ...tls } });
}

/** Responses that do not end by themselves. A client reopens its stream. */
type Streams = Set<FastifyReply['raw']>;

/** The response decides, not the Accept header of the request: some clients do not name the type there. */
function isStream(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('text/event-stream');
}

/**
 * On shutdown, requests in flight complete within {@link SHUTDOWN_TIMEOUT_MS}, and their connections are closed. The responses that
 * are added to the result are closed at once.
 */
function closeGracefully(fastify: FastifyInstance): Streams {
  let closing = false;
  const streams: Streams = new Set();
  fastify.addHook('preClose', (done) => {
    closing = true;
    for (const stream of streams) stream.destroy();
    const lastCall = setTimeout(() => fastify.server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS);
    fastify.server.once('close', () => clearTimeout(lastCall));
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
  return streams;
}

interface StreamingFront extends Front {
  readonly streams: Streams;
}

async function handle(front: StreamingFront, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const address = request.originalUrl;
  if (front.host === 'admin' && address.split('?', 1)[0] === '/health/ready') {
    const { ready, services } = await readinessOf(front.upstreams);
    return reply.status(ready ? 200 : 503).send({ services });
  }
  const app = appForAddress(front.host, address, request.method);
  const upstream = app === undefined ? undefined : front.upstreams.get(app);
  if (app === undefined || upstream === undefined) return sendProxyError(front, request, reply, NOT_FOUND);
  const leave = await front.draining.enter(app);
  // 'close' is also emitted when the client disconnects or the response is aborted.
  reply.raw.once('close', leave);
  const { raw } = reply;
  const onStream = (): void => {
    // 'close' was emitted already: the stream would stay in the set for ever.
    if (raw.destroyed) return;
    // A restart of the app must not wait for the stream.
    leave();
    front.streams.add(raw);
    raw.once('close', () => front.streams.delete(raw));
  };
  return forward(front, { app, upstream, onStream }, request, reply);
}

interface Upstream {
  readonly app: string;
  readonly upstream: string;
  /** Called when the response is an event stream. */
  readonly onStream: () => void;
}

function forward(
  front: Front,
  { app, upstream, onStream }: Upstream,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { log, tls } = front;
  const [path = '/', ...query] = request.originalUrl.split('?');
  const body = Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined;
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  return reply.from(`${upstream}${path}`, {
    queryString: () => query.join('?'),
    // With this content type the library sends the bytes unchanged; `forwardedHeaders` restores the caller's type.
    ...(body ? { body, contentType: 'application/octet-stream' } : {}),
    rewriteRequestHeaders: (_request, headers) =>
      forwardedHeaders(request, headers, { body, isTls: tls !== undefined }),
    rewriteHeaders: ({ connection: _connection, 'keep-alive': _keepAlive, ...headers }) => {
      if (isStream(headers['content-type'])) onStream();
      return headers;
    },
    retriesCount: MAX_RETRIES,
    retryDelay: ({ err, attempt }) => {
      // The library's own rule would repeat every 503 of an app ten times.
      if (!err || reply.raw.destroyed) return null;
      if (wasNeverSent(err)) return attempt < MAX_RETRIES ? RETRY_INTERVAL_MS : null;
      // The app closed the connection. Repeating a read is safe.
      return isReading && attempt === 0 && !err.message.includes('imeout') ? 1 : null;
    },
    onError: (_reply, { error }) => {
      const own = proxyErrorOf(error);
      log.warn({ err: error, app, method: request.method, statusCode: own.status }, 'app did not answer');
      sendProxyError(front, request, reply, own);
    },
  });
}

function forwardedHeaders(
  request: FastifyRequest,
  given: object,
  { body, isTls }: { body: Buffer | undefined; isTls: boolean },
): Record<string, string> {
  const headers = { ...given } as Record<string, string>;
  for (const name of NOT_FORWARDED) delete headers[name];
  if (body) {
    headers['content-length'] = String(body.length);
    const type = request.headers['content-type'];
    if (type === undefined) delete headers['content-type'];
    else headers['content-type'] = type;
  } else if (headers['content-length'] !== '0') {
    delete headers['content-length']; // The request has no body to forward.
  }
  const sent = request.headers.host;
  if (sent !== undefined) headers['host'] = sent;
  // The instrumentation adds the header of our own span, a child of the caller's. Two values would make the header invalid.
  if (trace.getActiveSpan()) for (const name of ['traceparent', 'tracestate']) delete headers[name];
  headers['x-forwarded-for'] = request.socket.remoteAddress ?? '';
  headers['x-forwarded-proto'] = isTls ? 'https' : 'http';
  return headers;
}
