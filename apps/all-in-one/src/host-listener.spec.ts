import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { RunningService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { createHostListener, LISTENER_TIMEOUTS_MS, type ListenerTimeoutsMs, stopListening } from './host-listener.js';

/** A service that reads the whole request body and then responds with `read`. */
const bodyReadingService = {
  name: 'hosted-gateway',
  app: {
    getHttpAdapter: () => ({
      getInstance: () => ({
        routing: (request: NodeJS.ReadableStream, response: { end(text: string): void }) =>
          request.resume().on('end', () => response.end('read')),
      }),
    }),
  },
} as unknown as RunningService;

const SHORT_TIMEOUTS_MS: ListenerTimeoutsMs = { headers: 100, request: 200, checkInterval: 20 };

interface OpenResponse {
  write(text: string): void;
  end(text: string): void;
}

/** Starts a listener whose service begins each response immediately. The test decides when a response ends. */
async function startListenerWithOpenResponses(timeoutsMs: ListenerTimeoutsMs = LISTENER_TIMEOUTS_MS): Promise<{
  listener: Server;
  openResponses: OpenResponse[];
  sendGet: (accept: string) => Promise<{ text: Promise<string> }>;
}> {
  const openResponses: OpenResponse[] = [];
  const serviceWithOpenResponses = {
    name: 'hosted-gateway',
    app: {
      getHttpAdapter: () => ({
        getInstance: () => ({
          routing: (_: unknown, response: OpenResponse) => {
            response.write('started ');
            openResponses.push(response);
          },
        }),
      }),
    },
  } as unknown as RunningService;
  const listener = createHostListener('gateway', [serviceWithOpenResponses], { timeoutsMs });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const sendGet = async (accept: string): Promise<{ text: Promise<string> }> => {
    const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
    const wholeText = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    socket.write(`GET /pay/1 HTTP/1.1\r\nHost: gateway\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`);
    await once(socket, 'data');
    return { text: wholeText };
  };
  return { listener, openResponses, sendGet };
}

test('stopListening waits for a response in flight, but not for an event stream', async () => {
  const { listener, openResponses, sendGet } = await startListenerWithOpenResponses();
  const page = await sendGet('text/html');
  const stream = await sendGet('text/event-stream');
  const secondStream = await sendGet('text/event-stream, */*;q=0.1');
  const stopped = stopListening(listener);
  expect(await stream.text).not.toContain('done');
  expect(await secondStream.text).not.toContain('done');
  openResponses[0]!.end('done');
  expect(await page.text).toContain('done');
  await stopped;
});

test.each([
  ['every service is ready', '', 200, 'ready'],
  ['a service gives a reason', '{"detail":"The database is unavailable."}', 503, 'The database is unavailable.'],
  ['a service gives no reason', '{}', 503, 'not ready'],
])(
  'GET /health/ready of the administration reports each service. If %s (%j), the status is %i and the state is %j',
  async (_, body, status, state) => {
    const createService = (name: string, statusCode: number) =>
      ({
        ...bodyReadingService,
        name,
        app: { ...bodyReadingService.app, inject: () => Promise.resolve({ statusCode, body }) },
      }) as unknown as RunningService;
    const services = [createService('identity', 200), createService('code-decoder', status)];
    const listener = createHostListener('admin', services);
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const response = await fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/health/ready`);
    expect([response.status, await response.json()]).toEqual([
      status,
      { services: { identity: 'ready', 'code-decoder': state } },
    ]);
    await stopListening(listener, 0);
  },
);

test('the timeouts for requests do not interrupt a response that takes longer', async () => {
  const { listener, openResponses, sendGet } = await startListenerWithOpenResponses(SHORT_TIMEOUTS_MS);
  const stream = await sendGet('text/event-stream');
  const startedAt = performance.now();
  await waitUntil('both timeouts to pass', 5_000, async () => {
    openResponses[0]!.write('.');
    return performance.now() - startedAt > 500;
  });
  openResponses[0]!.end('done');
  expect(await stream.text).toContain('done');
  await stopListening(listener);
});

test('stopListening closes a response that does not end within the timeout', async () => {
  const { listener, sendGet } = await startListenerWithOpenResponses();
  const endless = await sendGet('*/*');
  await stopListening(listener, 20);
  expect(await endless.text).not.toContain('done');
});

describe('a host listener', () => {
  let listener: Server;
  beforeAll(async () => {
    listener = createHostListener('gateway', [bodyReadingService], { timeoutsMs: SHORT_TIMEOUTS_MS });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  });
  afterAll(() => {
    listener.closeAllConnections();
    listener.close();
  });

  /** Sends the bytes and returns everything that the listener sends until it closes the connection. */
  async function sendRawRequest(bytes: string): Promise<string> {
    const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
    let response = '';
    socket.on('data', (chunk) => (response += String(chunk)));
    socket.write(bytes);
    await once(socket, 'close');
    return response;
  }

  it('disconnects a client that never completes its headers', async () => {
    expect(await sendRawRequest('GET /pay HTTP/1.1\r\nHost: gateway\r\nX-Slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  it('disconnects a client that never completes its body', async () => {
    expect(await sendRawRequest('POST /pay/x HTTP/1.1\r\nHost: gateway\r\nContent-Length: 9\r\n\r\n{')).toMatch(
      /^HTTP\/1.1 408 /,
    );
  });

  it('forwards a complete request', async () => {
    const request = 'POST /pay/x HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    expect(await sendRawRequest(request)).toMatch(/^HTTP\/1.1 200 .*read/s);
  });

  it.each(['//admin/v1/merchants', '/pay;/../admin', '/%61dmin/v1/merchants', 'http://gateway/pay', '/PAY'])(
    'does not forward a request for %s to any service',
    async (path) => {
      expect(await sendRawRequest(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 404 /,
      );
    },
  );
});
