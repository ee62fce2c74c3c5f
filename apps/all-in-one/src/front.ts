import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Host } from '@svc/contracts';
import { appForAddress, createProxyErrorResponse, NOT_FOUND, type RunningService, type TlsOptions } from '@svc/service';

/**
 * Timeouts for slow clients. With the defaults of Node.js, 60 s for the headers and 300 s for the request, a few hundred
 * connections that send very slowly could use up all file descriptors.
 */
export const FRONT_TIMEOUTS_MS = { head: 10_000, request: 30_000, checkedEvery: 5_000 } as const;
/** Of one listener. Further connections are closed at once, so that the other hosts stay available. */
const MAX_CONNECTIONS = 5_000;

export interface FrontOptions {
  /** Without it the listener uses plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Address of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  readonly timeoutsMs?: Record<keyof typeof FRONT_TIMEOUTS_MS, number>;
}

/** Creates the listener of a host. It passes each request to the service that the route table names, within the process. */
export function newFront(
  host: Host,
  services: readonly RunningService[],
  { tls, errorPages, timeoutsMs = FRONT_TIMEOUTS_MS }: FrontOptions = {},
): Server {
  const handlers = new Map(services.map((service) => [service.name, handlerOf(service)]));
  const limits = {
    headersTimeout: timeoutsMs.head,
    requestTimeout: timeoutsMs.request,
    connectionsCheckingInterval: timeoutsMs.checkedEvery,
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const address = request.url ?? '/';
    if (host === 'admin' && address.split('?', 1)[0] === '/health/ready') return void sendReadiness(services, response);
    const handle = handlers.get(appForAddress(host, address, request.method) ?? '');
    if (!handle) {
      const { status, headers, body } = createProxyErrorResponse(
        { host, accept: request.headers.accept, errorPages },
        NOT_FOUND,
      );
      return void response.writeHead(status, headers).end(body);
    }
    if (request.headers.accept?.includes('text/event-stream')) endWithListener(front, response);
    handle(request, response);
  };
  const front = tls ? createTlsServer({ ...limits, ...tls }, answer) : createServer(limits, answer);
  front.maxConnections = MAX_CONNECTIONS;
  return front;
}

/** A shutdown waits at most this long for requests in flight: a payment takes up to about 20 s (P6). */
const SHUTDOWN_TIMEOUT_MS = 25_000;

/**
 * Stops listening, and resolves when the requests in flight have been answered. Event streams do not end by themselves, so they
 * are closed at once; browsers reopen them. `timeoutMs` limits the wait for clients that never read their response, and for
 * event streams of clients without `text/event-stream` in their Accept header.
 */
export async function stopListening(front: Server, timeoutMs = SHUTDOWN_TIMEOUT_MS): Promise<void> {
  front.closeIdleConnections();
  front.emit(STOPPING);
  const lastCall = setTimeout(() => front.closeAllConnections(), timeoutMs);
  await new Promise((resolve) => front.close(resolve));
  clearTimeout(lastCall);
}

const STOPPING = 'svc.stopping';

function endWithListener(front: Server, response: ServerResponse): void {
  const end = (): void => void response.destroy();
  front.setMaxListeners(0);
  front.once(STOPPING, end);
  response.once('close', () => front.off(STOPPING, end));
}

function handlerOf(service: RunningService): (request: IncomingMessage, response: ServerResponse) => void {
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
