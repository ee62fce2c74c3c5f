import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Host } from '@svc/contracts';
import { appForAddress, NOT_FOUND, type RunningService, type TlsOptions, writeProxyError } from '@svc/service';

/**
 * What a client may take its time for. Node.js's own bounds are 60 s for the head and 300 s for the whole, so a few
 * hundred connections that send a byte now and then could hold every file descriptor.
 */
export const FRONT_TIMEOUTS_MS = { head: 10_000, request: 30_000, checkedEvery: 5_000 } as const;
/** Most connections of one listener; those beyond are closed at once, and the other hosts keep answering. */
const CONNECTIONS_MAX = 5_000;

export interface FrontOptions {
  /** Speaks TLS with these; without, plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Where the pages of errors are (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
  readonly timeoutsMs?: Record<keyof typeof FRONT_TIMEOUTS_MS, number>;
}

/** One listener for a host: hands each request to the service that the route table names, within the process. */
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
    if (host === 'admin' && address.split('?', 1)[0] === '/health/ready')
      return void answerReadiness(services, response);
    const handle = handlers.get(appForAddress(host, address, request.method) ?? '');
    if (!handle) {
      const { status, headers, body } = writeProxyError(
        { host, accept: request.headers.accept, errorPages },
        NOT_FOUND,
      );
      return void response.writeHead(status, headers).end(body);
    }
    if (request.headers.accept?.includes('text/event-stream')) endWithListener(front, response);
    handle(request, response);
  };
  const front = tls ? createTlsServer({ ...limits, ...tls }, answer) : createServer(limits, answer);
  front.maxConnections = CONNECTIONS_MAX;
  return front;
}

/** Longest that a shutdown waits for requests under way: a payment is answered within about 20 s (P6). */
const CLOSE_MS_MAX = 25_000;

/**
 * Stops listening, and resolves when the requests under way are answered. A stream of events would never be: it is
 * ended, and the browser opens it again wherever somebody listens. A client that reads one without asking for its type has
 * until `closeMsMax`, as one that never reads its answer.
 */
export async function stopListening(front: Server, closeMsMax = CLOSE_MS_MAX): Promise<void> {
  front.closeIdleConnections();
  front.emit(STOPPING);
  const lastCall = setTimeout(() => front.closeAllConnections(), closeMsMax);
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

/** The platform is ready when every service is. */
async function answerReadiness(services: readonly RunningService[], response: ServerResponse): Promise<void> {
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
