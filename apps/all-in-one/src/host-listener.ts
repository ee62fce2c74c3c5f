import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Host } from '@svc/contracts';
import {
  appForAddress,
  createNotFoundError,
  createProxyErrorResponse,
  prefersToJson,
  type RunningService,
  type TlsOptions,
} from '@svc/service';

/**
 * Timeouts for slow clients. With the defaults of Node.js, 60 s for the headers and 300 s for the request, a few
 * hundred connections that send very slowly could use up all file descriptors.
 */
export const LISTENER_TIMEOUTS_MS = { headers: 10_000, request: 30_000, checkInterval: 5_000 } as const;
export type ListenerTimeoutsMs = Readonly<Record<keyof typeof LISTENER_TIMEOUTS_MS, number>>;

/**
 * Maximum number of connections of one listener. The listener closes further connections immediately, so that the
 * listeners of the other hosts stay available.
 */
const MAX_CONNECTIONS = 5_000;

export interface HostListenerOptions {
  /** Certificate and key. Without them the listener uses plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** URL of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  /** Public base URL of the hosted gateway, for messages. */
  readonly gatewayUrl?: string | undefined;
  readonly timeoutsMs?: ListenerTimeoutsMs;
}

/**
 * Creates the HTTP listener of a host. It passes each request, within the process, to the service that the route table
 * names.
 */
export function createHostListener(
  host: Host,
  services: readonly RunningService[],
  { tls, errorPages, gatewayUrl, timeoutsMs = LISTENER_TIMEOUTS_MS }: HostListenerOptions = {},
): Server {
  const handlers = new Map(services.map((service) => [service.name, getRequestHandler(service)]));
  const limits = {
    headersTimeout: timeoutsMs.headers,
    requestTimeout: timeoutsMs.request,
    connectionsCheckingInterval: timeoutsMs.checkInterval,
  };
  const handleRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url ?? '/';
    if (host === 'admin' && url.split('?', 1)[0] === '/health/ready') return void sendReadiness(services, response);
    const handle = handlers.get(appForAddress(host, url, request.method) ?? '');
    if (!handle) {
      const { status, headers, body } = createProxyErrorResponse(
        { host, accept: request.headers.accept, errorPages },
        createNotFoundError({ host, method: request.method ?? 'GET', address: url, errorPages, gatewayUrl }),
      );
      return void response.writeHead(status, headers).end(body);
    }
    if (prefersToJson('text/event-stream', request.headers.accept)) closeOnShutdown(listener, response);
    handle(request, response);
  };
  const listener = tls ? createTlsServer({ ...limits, ...tls }, handleRequest) : createServer(limits, handleRequest);
  listener.maxConnections = MAX_CONNECTIONS;
  return listener;
}

/** A shutdown waits at most this long for requests in flight, because a payment takes up to about 20 s (P6). */
const SHUTDOWN_TIMEOUT_MS = 25_000;

/**
 * Stops listening, and resolves when all requests in flight have got their responses. An event stream never ends, so it
 * is closed immediately, and the browser reopens it. `timeoutMs` limits the wait for clients that never read their
 * response. This limit also ends event streams whose clients do not send `text/event-stream` in the Accept header.
 */
export async function stopListening(listener: Server, timeoutMs = SHUTDOWN_TIMEOUT_MS): Promise<void> {
  listener.closeIdleConnections();
  listener.emit(SHUTDOWN_EVENT);
  const deadline = setTimeout(() => listener.closeAllConnections(), timeoutMs);
  await new Promise((resolve) => listener.close(resolve));
  clearTimeout(deadline);
}

const SHUTDOWN_EVENT = 'svc.stopping';

function closeOnShutdown(listener: Server, response: ServerResponse): void {
  const end = (): void => void response.destroy();
  listener.setMaxListeners(0);
  listener.once(SHUTDOWN_EVENT, end);
  response.once('close', () => listener.off(SHUTDOWN_EVENT, end));
}

function getRequestHandler(service: RunningService): (request: IncomingMessage, response: ServerResponse) => void {
  const fastify = service.app.getHttpAdapter().getInstance() as unknown as {
    routing(request: IncomingMessage, response: ServerResponse): void;
  };
  return (request, response) => fastify.routing(request, response);
}

/** The platform is ready when every service is ready. */
async function sendReadiness(services: readonly RunningService[], response: ServerResponse): Promise<void> {
  const states = await Promise.all(
    services.map(async (service) => {
      const { statusCode, body } = await service.app.inject({ method: 'GET', url: '/health/ready' });
      const state =
        statusCode === 200
          ? 'ready'
          : ((JSON.parse(body) as { detail?: string; errors?: { message?: string }[] }).detail ?? 'not ready');
      return [service.name, state] as const;
    }),
  );
  response.writeHead(states.every(([, state]) => state === 'ready') ? 200 : 503, {
    'content-type': 'application/json',
  });
  response.end(JSON.stringify({ services: Object.fromEntries(states) }));
}
