import { ClientRequest, createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { HttpClient, type HttpClientSettings, type OutboundResponse } from './http-client.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}

function newClient(settings: Partial<HttpClientSettings> = {}): HttpClient {
  const client = new HttpClient({
    policy: { allowLoopback: true },
    connectTimeoutMs: 60_000,
    maxConnectionsPerOrigin: 2,
    keepAliveMs: 60_000,
    maxResponseBytes: 10,
    ...settings,
  });
  cleanups.push(() => client.destroy());
  return client;
}

function get(client: HttpClient, url: string, options: object = {}): Promise<OutboundResponse> {
  return client.call({ method: 'GET', url: new URL(url), headers: {}, ...options });
}

test.each([
  'http://127.0.0.1/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://10.0.0.1/',
  'https://169.254.169.254/',
])(
  'a connection to the literal IP address %s is refused without a DNS query, also if the caller has not checked the URL',
  async (url) => {
    const client = newClient({
      policy: { allowLoopback: false },
      resolve: () => Promise.reject(new Error('not called')),
    });
    await expect(get(client, url)).rejects.toMatchObject({ name: 'AddressRefused' });
  },
);

test.each(['http', 'https'])('an address that is not checked is called with %s', async (scheme) => {
  const port = await listen(createServer((socket) => socket.end()));
  await expect(get(newClient({ policy: undefined }), `${scheme}://127.0.0.1:${port}/`)).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
});

test('the timeout for connections includes TLS', async () => {
  const port = await listen(createServer());
  const client = newClient({ connectTimeoutMs: 50 });
  await expect(get(client, `https://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' });
});

test('the timeout for connections does not apply to the response', async () => {
  const port = await listen(createServer());
  const client = newClient({ connectTimeoutMs: 50 });
  const call = get(client, `http://127.0.0.1:${port}/`, { timeoutMs: 200 });
  await expect(call).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
});

test('the timeout of a call includes the wait for a connection', async () => {
  const port = await listen(createServer());
  const client = newClient({ maxConnectionsPerOrigin: 1 });
  void get(client, `http://127.0.0.1:${port}/`).catch(() => undefined);
  const call = get(client, `http://127.0.0.1:${port}/`, { timeoutMs: 50 });
  await expect(call).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
});

test.each([
  [10, undefined],
  [11, 'RESPONSE_TOO_LARGE'],
])('of a body of %d bytes at most 10 bytes are returned', async (length, code) => {
  const port = await listen(createHttpServer((_, response) => void response.end('x'.repeat(length))));
  const { body, bodyError } = await get(newClient(), `http://127.0.0.1:${port}/`);
  expect([body.toString(), (bodyError as { code?: string } | undefined)?.code]).toEqual(['x'.repeat(10), code]);
});

describe('a signal', () => {
  test('that is already aborted ends the call before a connection', async () => {
    let connections = 0;
    const port = await listen(createServer(() => connections++));
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(get(newClient(), `http://127.0.0.1:${port}/`, { signal })).rejects.toThrow('stop');
    expect(connections).toBe(0);
  });

  test('ends the call when it is aborted', async () => {
    const controller = new AbortController();
    const port = await listen(createServer((socket) => socket.on('data', () => controller.abort(new Error('stop')))));
    const call = get(newClient(), `http://127.0.0.1:${port}/`, { signal: controller.signal });
    await expect(call).rejects.toThrow('stop');
  });
});

describe('after a call in flight has begun', () => {
  async function startCall(): Promise<{
    client: HttpClient;
    call: Promise<OutboundResponse>;
    response: ServerResponse;
  }> {
    let client: HttpClient;
    let call: Promise<OutboundResponse>;
    const response = await new Promise<ServerResponse>((resolve) => {
      void listen(createHttpServer((_: IncomingMessage, serverResponse) => resolve(serverResponse))).then((port) => {
        client = newClient();
        call = get(client, `http://127.0.0.1:${port}/`);
        call.catch(() => undefined);
      });
    });
    return { client: client!, call: call!, response };
  }

  test('close waits for its response', async () => {
    const { client, call, response } = await startCall();
    let isClosed = false;
    const closing = client.close().then(() => (isClosed = true));
    expect(isClosed).toBe(false);
    response.end('done');
    expect((await call).body.toString()).toBe('done');
    await closing;
  });

  test('destroy lets it fail', async () => {
    const { client, call } = await startCall();
    client.destroy();
    await expect(call).rejects.toThrow('The client was closed.');
  });
});

describe('connections', () => {
  /** Starts a server that responds to each request with these bytes. Returns the connections it has accepted. */
  async function startServer(
    respond: (socket: Socket, request: number) => void,
  ): Promise<{ url: string; sockets: Socket[] }> {
    const sockets: Socket[] = [];
    let requests = 0;
    const port = await listen(
      createServer((socket) => {
        sockets.push(socket);
        socket.on('data', () => respond(socket, ++requests));
      }),
    );
    return { url: `http://127.0.0.1:${port}/`, sockets };
  }
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n';
  const closed = (socket: Socket): Promise<unknown> =>
    socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve));

  test('are used again, and never more than the limit are open', async () => {
    const { url, sockets } = await startServer((socket) => socket.write(`${OK}\r\nok`));
    const client = newClient({ maxConnectionsPerOrigin: 2 });
    for (let round = 0; round < 2; round++) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => get(client, url)));
      expect(responses.map(({ body }) => body.toString())).toEqual(Array(10).fill('ok'));
    }
    expect(sockets).toHaveLength(2);
  });

  test('that fail make room for the requests that wait', async () => {
    const { url, sockets } = await startServer((socket, request) =>
      request === 1 ? socket.destroy() : socket.write(`${OK}\r\nok`),
    );
    const client = newClient({ maxConnectionsPerOrigin: 1 });
    const results = await Promise.allSettled([get(client, url), get(client, url), get(client, url)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(sockets).toHaveLength(2);
  });

  test('are not given to requests that ended while they waited', async () => {
    let respond = (): void => undefined;
    const { url, sockets } = await startServer((socket, request) => {
      respond = () => void socket.write(`${OK}\r\nok`);
      if (request > 1) respond();
    });
    const client = newClient({ maxConnectionsPerOrigin: 1 });
    const first = get(client, url);
    await expect(get(client, url, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    const last = get(client, url);
    respond();
    expect([(await first).statusCode, (await last).statusCode, sockets.length]).toEqual([200, 200, 1]);
  });

  test('do not keep requests in memory that ended while they waited', async () => {
    const { url } = await startServer(() => undefined);
    const client = newClient({ maxConnectionsPerOrigin: 1 });
    void get(client, url).catch(() => undefined);
    const count = queryObjects(ClientRequest, { format: 'count' });
    for (let call = 0; call < 20; call++) {
      const ended = get(client, url, { timeoutMs: 1 });
      await expect(ended).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    }
    expect(queryObjects(ClientRequest, { format: 'count' })).toBeLessThan(count + 10);
  });

  test('are closed after a response that arrives before the whole request is sent', async () => {
    // The server responds, but never reads.
    const server = createServer({ pauseOnConnect: true }, (socket) => socket.write(`${OK}\r\nok`));
    const url = new URL(`http://127.0.0.1:${await listen(server)}/`);
    const client = newClient({ maxConnectionsPerOrigin: 1 });
    const body = 'x'.repeat(16 * 1024 * 1024);
    for (let call = 0; call < 2; call++) {
      const response = await client.call({ method: 'POST', url, headers: {}, body, timeoutMs: 2_000 });
      expect(response.body.toString()).toBe('ok');
    }
  });

  test.each([
    ['says that it closes the connection', `${OK}connection: close\r\n\r\nok`],
    ['closes idle connections within a second', `${OK}keep-alive: timeout=1\r\n\r\nok`],
    ['sends more than the response', `${OK}\r\nokHTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\npoisoned`],
  ])('are not used again if the server %s', async (_, response) => {
    const { url, sockets } = await startServer((socket) => socket.write(response));
    const client = newClient();
    await get(client, url).catch(() => undefined);
    await closed(sockets[0]!);
    await get(client, url).catch(() => undefined);
    expect(sockets).toHaveLength(2);
  });

  test('are closed if the server sends bytes while no request is in flight', async () => {
    const { url, sockets } = await startServer((socket) => socket.write(`${OK}\r\nok`));
    const client = newClient();
    await get(client, url);
    sockets[0]!.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\npoisoned');
    await closed(sockets[0]!);
    expect((await get(client, url)).body.toString()).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  test('are closed after the time of the client, and when it is destroyed', async () => {
    const { url, sockets } = await startServer((socket) => socket.write(`${OK}\r\nok`));
    await get(newClient({ keepAliveMs: 50 }), url);
    await closed(sockets[0]!);
    const client = newClient();
    await get(client, url);
    client.destroy();
    await closed(sockets[1]!);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([true, true]);
  });
});
