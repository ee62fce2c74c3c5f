/**
 * A reverse proxy for all hosts of the platform. It forwards each request over HTTP to the app that has the route in
 * the route table (`libs/contracts/src/routes.ts`). It does not authenticate requests, cache responses or change
 * bodies. Only `./svc up --distributed` runs it. Compose and Kubernetes use other proxies, whose rules are generated
 * from the same table (deploy/).
 */
import replyFrom from '@fastify/reply-from';
import { trace } from '@opentelemetry/api';
import type { Host } from '@svc/contracts';
import { appForAddress, createNotFoundError, NOT_FOUND, type ServiceLog, type TlsOptions } from '@svc/service';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AppDraining } from './draining.js';
import { classifyProxyError, sendProxyError, wasNeverSent } from './proxy-errors.js';
import { checkReadiness } from './readiness.js';

/** Settings of the reverse proxy for one host. */
export interface Front {
  readonly host: Host;
  /** Origin of each app, `http://host:port`, by its folder name. */
  readonly upstreams: ReadonlyMap<string, string>;
  readonly draining: AppDraining;
  readonly log: ServiceLog;
  /** Address of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Public base URL of the hosted gateway, for messages. */
  readonly gatewayUrl?: string | undefined;
  /** If undefined, the listener uses plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/**
 * The limits are the same as in apps/all-in-one, which runs all services in one process. A client that sends very
 * slowly must not occupy a file descriptor for long.
 */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 5_000;
/**
 * The front buffers a body until the app has responded, so that it can send the request again after a restart of the
 * app. The limit is twice the limit of the apps (C6), so that the app itself refuses a body that is slightly too large.
 */
const MAX_BODY_BYTES = 512 * 1024;
/**
 * The longest time without a byte from the app, before and during the response. `POST /v1/payments` responds within
 * about 20 s (P6), and event streams send a heartbeat every 15 s. The duration of a whole response is not limited.
 */
const UPSTREAM_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** A shutdown waits at most this long for requests in flight. */
const SHUTDOWN_TIMEOUT_MS = 10_000;
/** Connections to one app. Each open event stream occupies a connection, and a replica has up to 1 000 streams (M6). */
const MAX_UPSTREAM_CONNECTIONS = 2_048;
/** Interval and number of retries of a request whose connection was refused. */
const RETRY_INTERVAL_MS = 200;
const MAX_RETRIES = 25;

/** Hop-by-hop headers, and `forwarded`, which cannot be trusted. The front overwrites the client's X-Forwarded-For. */
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

/** Creates the HTTP server for one host. It does not listen yet. */
export function newFront(front: Front): FastifyInstance {
  const fastify = newServer(front.tls);
  fastify.server.maxConnections = MAX_CONNECTIONS;
  const streams = closeGracefully(fastify);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  void fastify.register(replyFrom, {
    disableRequestLogging: true,
    disableCache: true,
    // The server begins to close before the requests in flight have completed. Closing must not destroy their
    // connections to the apps.
    destroyAgent: false,
    undici: {
      connections: MAX_UPSTREAM_CONNECTIONS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: UPSTREAM_TIMEOUT_MS,
      bodyTimeout: UPSTREAM_TIMEOUT_MS,
    },
  });
  fastify.setErrorHandler((error, request, reply) => sendProxyError(front, request, reply, classifyProxyError(error)));
  // The route needs `reply.from`, which the plugin above adds. Therefore a second plugin registers the route.
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
    // The route table needs the path exactly as the client sent it. Fastify's router would normalise the path.
    // Therefore the router always gets the path '/'.
    rewriteUrl: () => '/',
  };
  if (tls === undefined) return Fastify({ ...options, http: limits });
  return Fastify({ ...options, https: { ...limits, ...tls } });
}

/** Open event streams. An event stream has no end. Therefore a shutdown closes it, and the client connects again. */
type Streams = Set<FastifyReply['raw']>;

/**
 * Whether the response is an event stream. The Accept header of the request is not used, because some clients do not
 * name the type of the stream there.
 */
function isEventStream(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('text/event-stream');
}

/**
 * On shutdown, requests in flight may complete within {@link SHUTDOWN_TIMEOUT_MS}, and then their connections are
 * closed. The caller adds event streams to the returned set. Event streams are closed immediately on shutdown.
 */
function closeGracefully(fastify: FastifyInstance): Streams {
  let isClosing = false;
  const streams: Streams = new Set();
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    for (const stream of streams) stream.destroy();
    const forcedClose = setTimeout(() => fastify.server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS);
    fastify.server.once('close', () => clearTimeout(forcedClose));
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done(null, payload);
  });
  return streams;
}

/** The settings of the reverse proxy, and its open event streams. */
interface StreamingFront extends Front {
  readonly streams: Streams;
}

/** Forwards a request to the app of its route. Readiness and unknown routes get a response of the front itself. */
async function handle(front: StreamingFront, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const address = request.originalUrl;
  if (front.host === 'admin' && address.split('?', 1)[0] === '/health/ready') {
    const { ready, services } = await checkReadiness(front.upstreams);
    return reply.status(ready ? 200 : 503).send({ services });
  }
  const app = appForAddress(front.host, address, request.method);
  const upstream = app === undefined ? undefined : front.upstreams.get(app);
  if (app === undefined || upstream === undefined) {
    const { host, errorPages, gatewayUrl } = front;
    const { method } = request;
    return sendProxyError(
      front,
      request,
      reply,
      createNotFoundError({ host, method, address, errorPages, gatewayUrl }),
    );
  }
  const leave = await front.draining.enter(app);
  // 'close' is also emitted when the client disconnects or the response is aborted.
  reply.raw.once('close', leave);
  const { raw } = reply;
  const onStream = (): void => {
    // 'close' was already emitted, so the listener below would never remove the stream from the set.
    if (raw.destroyed) return;
    // A restart of the app must not wait for the stream.
    leave();
    front.streams.add(raw);
    raw.once('close', () => front.streams.delete(raw));
  };
  return forward(front, { app, upstream, onStream }, request, reply);
}

/** The app to which a request is forwarded, and its origin. */
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
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD';
  return reply.from(`${upstream}${path}`, {
    queryString: () => query.join('?'),
    // With this content type the library sends the bytes unchanged; `buildForwardedHeaders` restores the type that the
    // client sent.
    ...(body ? { body, contentType: 'application/octet-stream' } : {}),
    rewriteRequestHeaders: (_request, headers) =>
      buildForwardedHeaders(request, headers, { body, isTls: tls !== undefined }),
    rewriteHeaders: ({ connection: _connection, 'keep-alive': _keepAlive, ...headers }) => {
      if (isEventStream(headers['content-type'])) onStream();
      return headers;
    },
    retriesCount: MAX_RETRIES,
    retryDelay: ({ err, attempt }) => {
      // The response of an app is never retried. By default, the library would retry every 503 ten times.
      if (!err || reply.raw.destroyed) return null;
      if (wasNeverSent(err)) return attempt < MAX_RETRIES ? RETRY_INTERVAL_MS : null;
      // The connection was lost after the request was sent. Only GET and HEAD are safe to retry, and only if the error
      // is not a timeout (its message contains "timeout" or "Timeout").
      return isSafeMethod && attempt === 0 && !err.message.includes('imeout') ? 1 : null;
    },
    onError: (_reply, { error }) => {
      const proxyError = classifyProxyError(error);
      log.warn({ err: error, app, method: request.method, statusCode: proxyError.status }, 'app did not respond');
      sendProxyError(front, request, reply, proxyError);
    },
  });
}

/** The headers of the request to the app. */
function buildForwardedHeaders(
  request: FastifyRequest,
  originalHeaders: object,
  { body, isTls }: { body: Buffer | undefined; isTls: boolean },
): Record<string, string> {
  const headers = { ...originalHeaders } as Record<string, string>;
  for (const name of NOT_FORWARDED) delete headers[name];
  if (body) {
    headers['content-length'] = String(body.length);
    const type = request.headers['content-type'];
    if (type === undefined) delete headers['content-type'];
    else headers['content-type'] = type;
  } else if (headers['content-length'] !== '0') {
    delete headers['content-length']; // The request has no body to forward.
  }
  const { host } = request.headers;
  if (host !== undefined) headers['host'] = host;
  // The instrumentation of the HTTP client adds `traceparent` with the span of the front. A second value would make the
  // header invalid.
  if (trace.getActiveSpan()) for (const name of ['traceparent', 'tracestate']) delete headers[name];
  headers['x-forwarded-for'] = request.socket.remoteAddress ?? '';
  headers['x-forwarded-proto'] = isTls ? 'https' : 'http';
  return headers;
}
