import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createResolver } from '@svc/outbound';
import { NameServer } from '../../test/name-server.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { WebhookClient, type WebhookClientOptions, type WebhookResponse } from './webhook-client.js';

const REQUEST = { headers: { 'content-type': 'application/json' }, body: '{}' };
const TIMEOUT_MS = 400;
/** For requests that must end earlier for another reason, also on a busy machine. */
const LONG_TIMEOUT_MS = 60_000;
/** If the timeout did not work, a request would never end. Therefore this limit can be generous for busy machines. */
const MAX_ABORT_MS = 10 * TIMEOUT_MS;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

/** A client that a slow machine does not disconnect. */
function newClient(settings: Partial<WebhookClientOptions> = {}): WebhookClient {
  const client = new WebhookClient({
    policy: { allowLoopback: true },
    connectTimeoutMs: LONG_TIMEOUT_MS,
    timeoutMs: LONG_TIMEOUT_MS,
    connectionsPerOrigin: 2,
    ...settings,
  });
  cleanups.push(() => Promise.resolve(client.close()));
  return client;
}

/** A client for endpoints that exceed its timeouts. */
function newImpatientClient(settings: Partial<WebhookClientOptions> = {}): WebhookClient {
  return newClient({ connectTimeoutMs: 200, timeoutMs: TIMEOUT_MS, ...settings });
}

function post(client: WebhookClient, url: string): Promise<WebhookResponse> {
  return client.post({ ...REQUEST, url }, new AbortController().signal);
}

async function startNameServer(...parameters: Parameters<typeof NameServer.start>): Promise<NameServer> {
  const server = await NameServer.start(...parameters);
  cleanups.push(() => server.stop());
  return server;
}

describe('a host name whose DNS record changes with each query', () => {
  /**
   * Starts two servers on the same port of two addresses: the server of the merchant and an internal server (the
   * victim). Returns the `Host` headers that each server receives.
   */
  async function startMerchantAndVictim(): Promise<{ port: number; merchant: string[]; victim: string[] }> {
    const merchant: string[] = [];
    const victim: string[] = [];
    const startServer = async (host: string, port: number, receivedHosts: string[]): Promise<number> => {
      const server = createHttpServer((request, response) => {
        receivedHosts.push(request.headers.host!);
        response.writeHead(200, { connection: 'close' }).end();
      });
      await new Promise<void>((done) => server.listen(port, host, done));
      cleanups.push(() => new Promise((closed) => server.close(closed)));
      return (server.address() as AddressInfo).port;
    };
    const port = await startServer('127.0.0.1', 0, merchant);
    await startServer('127.0.0.2', port, victim);
    return { port, merchant, victim };
  }

  it('is resolved once for each connection, and the connection uses the address that was checked', async () => {
    const { port, merchant, victim } = await startMerchantAndVictim();
    const dns = await startNameServer((_, queryCount) => (queryCount <= 1 ? ['127.0.0.1'] : ['127.0.0.2']));
    const url = `http://rebind.example:${port}/hooks`;
    expect(await post(newClient({ resolve: createResolver([dns.address]) }), url)).toMatchObject({ statusCode: 200 });
    expect(dns.queriedNames).toEqual(['rebind.example']);
    expect([merchant, victim]).toEqual([[`rebind.example:${port}`], []]);
  });

  it('is resolved and checked again at each attempt', async () => {
    const { port, merchant } = await startMerchantAndVictim();
    const dns = await startNameServer(
      (_, queryCount) =>
        [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '192.168.0.1']][queryCount - 1] ?? [],
    );
    const resolve = createResolver([dns.address]);
    const responses: WebhookResponse[] = [];
    for (let i = 0; i < 4; i++)
      responses.push(await post(newClient({ resolve }), `http://rebind.example:${port}/hooks`));
    expect(responses.map(({ statusCode, errorClass }) => statusCode ?? errorClass)).toEqual([
      200,
      'address-refused:private',
      'address-refused:link-local',
      'address-refused:private',
    ]);
    expect(merchant).toHaveLength(1);
  });

  it('cannot resolve to a loopback address in production', async () => {
    const { merchant, victim } = await startMerchantAndVictim();
    const dns = await startNameServer(() => ['127.0.0.1']);
    const settings = { policy: { allowLoopback: false }, resolve: createResolver([dns.address]) };
    for (const host of ['rebind.example', 'rebind.example.', 'REBIND.example'])
      expect(await post(newClient(settings), `https://${host}:8443/`)).toMatchObject({
        errorClass: 'address-refused:loopback',
      });
    expect([...merchant, ...victim]).toEqual([]);
  });

  it('causes a connect-timeout if its name server does not respond', async () => {
    const dns = await startNameServer(() => 'silence');
    const resolve = createResolver([dns.address]);
    const result = await post(newImpatientClient({ resolve }), 'http://silent.example/');
    expect(result).toMatchObject({ errorClass: 'connect-timeout' });
    expect(result.durationMs).toBeLessThan(2_000);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('is not followed if its status is %i', async (statusCode) => {
    const [receiver, redirectTarget] = [await Receiver.start(), await Receiver.start()];
    cleanups.push(
      () => receiver.stop(),
      () => redirectTarget.stop(),
    );
    receiver.setBehaviours(respondWith(statusCode, { location: redirectTarget.url }));
    expect(await post(newClient(), receiver.url)).toMatchObject({ statusCode });
    expect([receiver.received.length, redirectTarget.received.length]).toEqual([1, 0]);
  });
});

/** Makes the server listen. Returns its URL. */
async function startEndpoint(server: Server): Promise<string> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}

describe('an endpoint that sends interim responses', () => {
  const INTERIM_RESPONSES = {
    '100 Continue': 'HTTP/1.1 100 Continue\r\n\r\n',
    '102 Processing': 'HTTP/1.1 102 Processing\r\n\r\n',
    '103 Early Hints': 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\nretry-after: 9\r\n\r\n',
  };
  const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

  /** Starts a server that sends these pieces one after the other, for each request. Returns the bytes it receives. */
  async function startResponder(
    ...pieces: string[]
  ): Promise<{ url: string; requests: string[]; connections: Socket[] }> {
    const requests: string[] = [];
    const connections: Socket[] = [];
    const url = await startEndpoint(
      createServer((socket) => {
        connections.push(socket);
        socket.on('data', (bytes) => {
          requests.push(bytes.toString('latin1'));
          const writeNext = (index: number): void => {
            if (index < pieces.length) socket.write(pieces[index]!, () => setImmediate(writeNext, index + 1));
          };
          writeNext(0);
        });
      }),
    );
    return { url, requests, connections };
  }

  it.each(Object.entries(INTERIM_RESPONSES))('acknowledges the notification after %s', async (_, interim) => {
    const { url, requests, connections } = await startResponder(interim, RESPONSE);
    const client = newClient();
    for (let i = 0; i < 2; i++) {
      const response = await post(client, url);
      expect(response).toEqual({ statusCode: 200, text: 'ok', durationMs: expect.any(Number) });
    }
    // The connection stays open, and the request did not ask for the interim response.
    expect([requests.length, connections.length]).toEqual([2, 1]);
    expect(requests.join('').toLowerCase()).not.toContain('expect:');
  });

  it('may send them together with the response, and split at any byte', async () => {
    const bytes = Object.values(INTERIM_RESPONSES).join('') + RESPONSE;
    for (const pieces of [[bytes], [...bytes], [bytes.slice(0, 40), bytes.slice(40)]]) {
      const { url } = await startResponder(...pieces);
      expect(await post(newClient(), url)).toMatchObject({ statusCode: 200, text: 'ok' });
    }
  });

  it.each([
    [100, { statusCode: 200, text: 'ok' }],
    [101, { errorClass: 'interim-answers' }],
  ])('may send a hundred of them, so after %d the result is %j', async (count, result) => {
    const { url } = await startResponder(INTERIM_RESPONSES['100 Continue'].repeat(count), RESPONSE);
    expect(await post(newClient(), url)).toEqual({ ...result, durationMs: expect.any(Number) });
  });

  it.each([
    ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', 'with the header Upgrade'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'without the header Upgrade'],
  ])('cannot switch to another protocol: %j', async (switching) => {
    const { url } = await startResponder(switching, RESPONSE);
    expect(await post(newClient(), url)).toEqual({ errorClass: 'interim-answers', durationMs: expect.any(Number) });
  });

  it('does not acknowledge the notification if it closes the connection after an interim response', async () => {
    const url = await startEndpoint(
      createServer((socket) => socket.once('data', () => socket.end(INTERIM_RESPONSES['100 Continue']))),
    );
    const response = await post(newClient(), url);
    expect(response).toEqual({ errorClass: 'connection-reset', durationMs: expect.any(Number) });
  });
});

describe('a URL of a merchant', () => {
  it.each([
    ['/hooks?name=Caf%E9&x=a%20b~c&flag', '/hooks?name=Caf%E9&x=a%20b~c&flag'],
    ["/a/../b{1}/%7e?q='<x>'|é 1#top", "/a/../b{1}/%7e?q='<x>'|%C3%A9%201"],
    ['?x=1', '/?x=1'],
  ])('is requested as it was set, encoded only as HTTP requires: %s', async (rest, target) => {
    const receiver = await Receiver.start();
    cleanups.push(() => receiver.stop());
    await post(newClient(), `http://127.0.0.1:${receiver.port}${rest}`);
    expect(receiver.received.map(({ path }) => path)).toEqual([target]);
  });
});

describe('a hostile endpoint', () => {
  /** Starts a server that sends `firstBytes`, and then `repeatedBytes` until the connection is closed. */
  const startEndlessResponse = (
    firstBytes: string,
    repeatedBytes: string,
    onSent = (_bytes: number): unknown => undefined,
  ): Promise<string> =>
    startEndpoint(
      createServer((socket) =>
        socket.once('data', () => {
          const onWritten = (error?: Error | null): void => {
            if (!error) onSent(repeatedBytes.length);
            setImmediate(writeNext);
          };
          const writeNext = (): void => void (socket.destroyed || socket.write(repeatedBytes, onWritten));
          socket.write(firstBytes, writeNext);
        }),
      ),
    );

  it.each([
    ['sends no status', '', 'timeout', ''],
    ['never completes its status line', 'HTTP/1.1 200 O', 'response-headers-too-large', 'K'.repeat(100)],
    ['sends one header for ever', 'HTTP/1.1 200 OK\r\nx-a: ', 'response-headers-too-large', 'a'.repeat(1_000)],
    ['sends many headers for ever', 'HTTP/1.1 200 OK\r\n', 'response-headers-too-large', `${'x-a: b\r\n'.repeat(100)}`],
    ['sends early hints for ever', '', 'interim-answers', 'HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n'],
    ['sends 100 Continue for ever', '', 'interim-answers', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['never completes an interim response', 'HTTP/1.1 100 Continue\r\nx-a: b', 'timeout', ''],
    [
      'sends an interim response with one header for ever',
      'HTTP/1.1 103 Early Hints\r\nx-a: ',
      'response-headers-too-large',
      'a'.repeat(1_000),
    ],
  ])('is disconnected if it %s', async (_, firstBytes, errorClass, repeatedBytes) => {
    const url =
      firstBytes === '' && repeatedBytes === ''
        ? await startEndpoint(createServer())
        : await startEndlessResponse(firstBytes, repeatedBytes);
    const result = await post(errorClass === 'timeout' ? newImpatientClient() : newClient(), url);
    expect(result.statusCode).toBeUndefined();
    expect(result.errorClass).toBe(errorClass);
    expect(result.durationMs).toBeLessThan(MAX_ABORT_MS);
  });

  it.each([
    ['of unknown length', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(10_000)],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', `2710\r\n${'x'.repeat(10_000)}\r\n`],
    [
      'with an extreme content-length',
      'HTTP/1.1 200 OK\r\ncontent-length: 9007199254740991\r\n\r\n',
      'x'.repeat(10_000),
    ],
  ])(
    'acknowledges the notification if it sends status 200 and an endless body %s',
    async (_, firstBytes, repeatedBytes) => {
      let sent = 0;
      const url = await startEndlessResponse(firstBytes, repeatedBytes, (bytes) => (sent += bytes));
      const result = await post(newClient(), url);
      expect(result).toMatchObject({ statusCode: 200, errorClass: 'response-too-large', text: 'x'.repeat(2_000) });
      // The client reads only 64 KiB, but the kernel buffers some megabytes at both ends of a connection.
      expect(sent).toBeLessThan(32 * 2 ** 20);
    },
  );

  it('is disconnected at the timeout of the attempt if it sends its response byte by byte', async () => {
    const result = await post(
      newImpatientClient(),
      await startEndlessResponse('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'),
    );
    expect(result.statusCode).toBe(200);
    expect(['timeout', 'response-too-large']).toContain(result.errorClass);
    expect(result.durationMs).toBeLessThan(MAX_ABORT_MS);
  });

  it('cannot make the client decompress a response, so a decompression bomb is harmless', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const sendBomb = (response: ServerResponse): void =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const url = await startEndpoint(createHttpServer((_, response) => sendBomb(response)));
    const result = await post(newClient(), url);
    expect(result.statusCode).toBe(200);
    // The text contains the compressed bytes: gzip begins with 1f 8b 08. A decompressed text would contain zeros.
    expect([...result.text!.slice(0, 3)]).toEqual(['\x1f', '\ufffd', '\x08']);
    expect(result.text!.length).toBeLessThanOrEqual(2_000);
  });

  it('delays no other request to its host if it never responds', async () => {
    const client = newImpatientClient();
    const url = await startEndpoint(createServer());
    // If requests waited for one of the two connections of a host, the last request would wait for twenty attempts.
    const results = await Promise.all(Array.from({ length: 40 }, () => post(client, url)));
    for (const { errorClass, durationMs } of results) {
      // On a busy machine the connection itself may take too long.
      expect(errorClass).toMatch(/^(connect-)?timeout$/);
      expect(durationMs).toBeLessThan(MAX_ABORT_MS);
    }
  });
});
