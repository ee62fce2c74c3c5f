/**
 * The hosts of the platform as one process: each request goes to the app that the route table names, over HTTP. It
 * decides nothing else: no authentication, no caching, no rewriting of bodies. `./svc up --distributed` runs it; in
 * compose and Kubernetes others do the same, and their rules are made from the same table (deploy/).
 */
import replyFrom from '@fastify/reply-from';
import { trace } from '@opentelemetry/api';
import type { Host } from '@svc/contracts';
import { appForAddress, NOT_FOUND, type ServiceLog, type TlsOptions } from '@svc/service';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Gates } from './gates.js';
import { sendProxyError, proxyErrorOf, wasNeverSent } from './proxy-errors.js';
import { readinessOf } from './readiness.js';

export interface Front {
  readonly host: Host;
  /** Where each app listens: `http://host:port`, by its folder name. */
  readonly upstreams: ReadonlyMap<string, string>;
  readonly gates: Gates;
  readonly log: ServiceLog;
  /** Where the pages of errors are (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Speaks TLS with these; without, plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/** As the embedded listener: a client that sends a byte now and then holds no file descriptor for long. */
const HEAD_MS_MAX = 10_000;
const REQUEST_MS_MAX = 30_000;
const CONNECTIONS_MAX = 5_000;
/**
 * Bodies are kept until the app has answered, so that a request can wait for an app that starts again. Twice what the
 * apps accept (C6): up to there the refusal, and its form, is theirs.
 */
const BODY_BYTES_MAX = 512 * 1024;
/**
 * `POST /v1/payments` answers within about 20 s (P6). Streams send a heartbeat every 15 s: this bounds the silence within an
 * answer, not its length.
 */
const ANSWER_MS_MAX = 60_000;
const CONNECT_MS_MAX = 2_000;
/** Longest that a shutdown waits for requests under way. */
const CLOSE_MS_MAX = 10_000;
/** Connections to one app. Streams hold theirs for as long as they are read: a replica has up to 1 000 (M6). */
const UPSTREAM_CONNECTIONS_MAX = 2_048;
/** How often, and how long in all, a request that nobody was there for is tried again. */
const TRY_AGAIN_MS = 200;
const TRIES_MAX = 25;

/** Of one connection, not of the request; or added here. The client's own X-Forwarded-For is anybody's claim. */
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
  fastify.server.maxConnections = CONNECTIONS_MAX;
  const streams = closeInOrder(fastify);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  void fastify.register(replyFrom, {
    disableRequestLogging: true,
    disableCache: true,
    // Its connections to the apps are not destroyed on closing, which comes before the requests under way are done.
    destroyAgent: false,
    undici: {
      connections: UPSTREAM_CONNECTIONS_MAX,
      connect: { timeout: CONNECT_MS_MAX },
      headersTimeout: ANSWER_MS_MAX,
      bodyTimeout: ANSWER_MS_MAX,
    },
  });
  fastify.setErrorHandler((error, request, reply) => sendProxyError(front, request, reply, proxyErrorOf(error)));
  // Registered after the plugin has been loaded, so that its decoration is there.
  void fastify.register((routes, _options, done) => {
    routes.all('/', (request, reply) => answer({ ...front, streams }, request, reply));
    done();
  });
  fastify.setNotFoundHandler((request, reply) => sendProxyError(front, request, reply, NOT_FOUND));
  return fastify;
}

function newServer(tls: TlsOptions | undefined): FastifyInstance {
  const limits = { headersTimeout: HEAD_MS_MAX, connectionsCheckingInterval: 5_000 };
  const options = {
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    return503OnClosing: false,
    // The route table decides, with the path as it was sent; Fastify's router would have opinions about it.
    rewriteUrl: () => '/',
  };
  if (tls === undefined) return Fastify({ ...options, http: limits });
  return Fastify({ ...options, https: { ...limits, ...tls } });
}

/** Answers that have no end to wait for; a client opens its stream again by itself. */
type Streams = Set<FastifyReply['raw']>;

/** Whatever the client has said that it accepts: not all name the type. */
function isStream(contentType: unknown): boolean {
  return typeof contentType === 'string' && contentType.startsWith('text/event-stream');
}

/**
 * Requests under way are completed, also those whose client then keeps its connection, or never reads its answer. Those that
 * are added to the result are closed instead.
 */
function closeInOrder(fastify: FastifyInstance): Streams {
  let closing = false;
  const streams: Streams = new Set();
  fastify.addHook('preClose', (done) => {
    closing = true;
    for (const stream of streams) stream.destroy();
    const lastCall = setTimeout(() => fastify.server.closeAllConnections(), CLOSE_MS_MAX);
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

async function answer(front: StreamingFront, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const address = request.originalUrl;
  if (front.host === 'admin' && address.split('?', 1)[0] === '/health/ready') {
    const { ready, services } = await readinessOf(front.upstreams);
    return reply.status(ready ? 200 : 503).send({ services });
  }
  const app = appForAddress(front.host, address, request.method);
  const upstream = app === undefined ? undefined : front.upstreams.get(app);
  if (app === undefined || upstream === undefined) return sendProxyError(front, request, reply, NOT_FOUND);
  const leave = await front.gates.enter(app);
  // Also when the client hangs up, or the answer breaks off in the middle.
  reply.raw.once('close', leave);
  const { raw } = reply;
  const onStream = (): void => {
    // Its 'close' event came before: nothing would remove the stream later.
    if (raw.destroyed) return;
    // A restart of the app does not wait for it.
    leave();
    front.streams.add(raw);
    raw.once('close', () => front.streams.delete(raw));
  };
  return forward(front, { app, upstream, onStream }, request, reply);
}

interface Upstream {
  readonly app: string;
  readonly upstream: string;
  /** Called when the answer turns out to be a stream of events. */
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
    // With a type of its own the library takes the bytes as they are; the caller's is put back below.
    ...(body ? { body, contentType: 'application/octet-stream' } : {}),
    rewriteRequestHeaders: (_request, headers) =>
      forwardedHeaders(request, headers, { body, isTls: tls !== undefined }),
    rewriteHeaders: ({ connection: _connection, 'keep-alive': _keepAlive, ...headers }) => {
      if (isStream(headers['content-type'])) onStream();
      return headers;
    },
    retriesCount: TRIES_MAX,
    retryDelay: ({ err, attempt }) => {
      // The library's own rule would repeat every 503 of an app ten times.
      if (!err || reply.raw.destroyed) return null;
      if (wasNeverSent(err)) return attempt < TRIES_MAX ? TRY_AGAIN_MS : null;
      // The connection was closed under it; a second look does no harm.
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
    delete headers['content-length']; // announced for a request that has no body to forward
  }
  const sent = request.headers.host;
  if (sent !== undefined) headers['host'] = sent;
  // The app is told of our own span, which hangs on the caller's. With both the header would be no longer readable.
  if (trace.getActiveSpan()) for (const name of ['traceparent', 'tracestate']) delete headers[name];
  headers['x-forwarded-for'] = request.socket.remoteAddress ?? '';
  headers['x-forwarded-proto'] = isTls ? 'https' : 'http';
  return headers;
}
