import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createResolver } from '@svc/outbound';
import { NameServer } from '../../test/name-server.js';
import { answers, Receiver } from '../../test/receiver.js';
import { WebhookClient, type WebhookClientOptions, type WebhookResponse } from './webhook-client.js';

const POSTED = { headers: { 'content-type': 'application/json' }, body: '{}' };
const TIMEOUT_MS = 400;
/** Without a timeout the test would hang, so a generous limit is enough on a busy machine. */
const MAX_ABORT_MS = 10 * TIMEOUT_MS;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function newClient(settings: Partial<WebhookClientOptions> = {}): WebhookClient {
  const client = new WebhookClient({
    policy: { allowLoopback: true },
    connectTimeoutMs: 200,
    timeoutMs: TIMEOUT_MS,
    connectionsPerOrigin: 2,
    ...settings,
  });
  closing.push(() => client.close());
  return client;
}

function post(to: WebhookClient, url: string): Promise<WebhookResponse> {
  return to.post({ ...POSTED, url }, new AbortController().signal);
}

async function nameServer(...parameters: Parameters<typeof NameServer.start>): Promise<NameServer> {
  const server = await NameServer.start(...parameters);
  closing.push(() => server.stop());
  return server;
}

describe('a host name whose DNS response changes each time', () => {
  /** Two servers at one port: the merchant's, and an internal one. */
  async function merchantAndVictim(): Promise<{ port: number; merchant: string[]; victim: string[] }> {
    const merchant: string[] = [];
    const victim: string[] = [];
    const listening = async (host: string, port: number, seen: string[]): Promise<number> => {
      const server = createHttpServer((request, response) => {
        seen.push(request.headers.host!);
        response.writeHead(200, { connection: 'close' }).end();
      });
      await new Promise<void>((done) => server.listen(port, host, done));
      closing.push(() => new Promise((closed) => server.close(closed)));
      return (server.address() as AddressInfo).port;
    };
    const port = await listening('127.0.0.1', 0, merchant);
    await listening('127.0.0.2', port, victim);
    return { port, merchant, victim };
  }

  it('is resolved once for a connection, which uses the checked address', async () => {
    const { port, merchant, victim } = await merchantAndVictim();
    const names = await nameServer((_, times) => (times <= 1 ? ['127.0.0.1'] : ['127.0.0.2']));
    const url = `http://rebind.example:${port}/hooks`;
    expect(await post(newClient({ resolve: createResolver([names.address]) }), url)).toMatchObject({ statusCode: 200 });
    expect(names.asked).toEqual(['rebind.example']);
    expect([merchant, victim]).toEqual([[`rebind.example:${port}`], []]);
  });

  it('is checked again at the next attempt', async () => {
    const { port, merchant } = await merchantAndVictim();
    const names = await nameServer(
      (_, times) => [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '192.168.0.1']][times - 1] ?? [],
    );
    const resolve = createResolver([names.address]);
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

  it('cannot lead to loopback in production', async () => {
    const { merchant, victim } = await merchantAndVictim();
    const names = await nameServer(() => ['127.0.0.1']);
    const settings = { policy: { allowLoopback: false }, resolve: createResolver([names.address]) };
    for (const host of ['rebind.example', 'rebind.example.', 'REBIND.example'])
      expect(await post(newClient(settings), `https://${host}:8443/`)).toMatchObject({
        errorClass: 'address-refused:loopback',
      });
    expect([...merchant, ...victim]).toEqual([]);
  });

  it('whose name server does not respond costs at most the connect timeout', async () => {
    const names = await nameServer(() => 'silence');
    const answer = await post(newClient({ resolve: createResolver([names.address]) }), 'http://silent.example/');
    expect(answer).toMatchObject({ errorClass: 'connect-timeout' });
    // undici checks its timers twice a second.
    expect(answer.durationMs).toBeLessThan(2_000);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is a response, and not followed', async (statusCode) => {
    const [first, second] = [await Receiver.start(), await Receiver.start()];
    closing.push(
      () => first.stop(),
      () => second.stop(),
    );
    first.behaves(answers(statusCode, { location: second.url }));
    expect(await post(newClient(), first.url)).toMatchObject({ statusCode });
    expect([first.received.length, second.received.length]).toEqual([1, 0]);
  });
});

describe('an endpoint that', () => {
  async function endpoint(server: Server): Promise<string> {
    const open = new Set<Socket>();
    server.on('connection', (socket) => {
      open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(() => {
      for (const socket of open) socket.destroy();
      return new Promise((closed) => server.close(closed));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  }

  /** Sends `first`, then `piece` again and again for as long as the connection lasts. */
  const endless = (first: string, piece: string, onSent = (_bytes: number): unknown => undefined): Promise<string> =>
    endpoint(
      createServer((socket) =>
        socket.once('data', () => {
          const sent = (error?: Error | null): void => {
            if (!error) onSent(piece.length);
            setImmediate(more);
          };
          const more = (): void => void (socket.destroyed || socket.write(piece, sent));
          socket.write(first, more);
        }),
      ),
    );

  it.each([
    ['sends no status', '', 'timeout', ''],
    ['sends its status a letter at a time', 'HTTP/1.1 200 O', 'timeout', 'K'],
    ['sends one header for ever', 'HTTP/1.1 200 OK\r\nx-a: ', 'answer-headers-too-large', 'a'.repeat(1_000)],
    ['sends many headers for ever', 'HTTP/1.1 200 OK\r\n', 'answer-headers-too-large', `${'x-a: b\r\n'.repeat(100)}`],
    ['sends early hints for ever', '', 'timeout', 'HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n'],
    ['says to go on, unasked and for ever', '', 'connection-reset', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('%s is disconnected: %s', async (_, first, errorClass, piece) => {
    const url = piece === '' ? await endpoint(createServer()) : await endless(first, piece);
    const answer = await post(newClient(), url);
    expect(answer.statusCode).toBeUndefined();
    expect(answer.errorClass).toBe(errorClass);
    expect(answer.durationMs).toBeLessThan(MAX_ABORT_MS);
  });

  it.each([
    ['of unknown length', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(10_000)],
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', `2710\r\n${'x'.repeat(10_000)}\r\n`],
    ['of a length nobody has', 'HTTP/1.1 200 OK\r\ncontent-length: 9007199254740991\r\n\r\n', 'x'.repeat(10_000)],
  ])(
    'acknowledges with an endless response %s counts as delivered, and 64 KiB of the response are read',
    async (_, first, piece) => {
      let sent = 0;
      const url = await endless(first, piece, (bytes) => (sent += bytes));
      const answer = await post(newClient(), url);
      expect(answer).toMatchObject({ statusCode: 200, errorClass: 'answer-too-large', text: 'x'.repeat(2_000) });
      // As much as the kernel buffers for both ends of a connection.
      expect(sent).toBeLessThan(32 * 2 ** 20);
    },
  );

  it('sends its response byte by byte is disconnected when the time of the attempt ends', async () => {
    const answer = await post(
      newClient(),
      await endless('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'),
    );
    expect(answer.statusCode).toBe(200);
    expect(['timeout', 'answer-too-large']).toContain(answer.errorClass);
    expect(answer.durationMs).toBeLessThan(MAX_ABORT_MS);
  });

  it('sends a decompression bomb causes no decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const bombing = (response: ServerResponse): void =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const url = await endpoint(createHttpServer((_, response) => bombing(response)));
    const answer = await post(newClient(), url);
    expect(answer.statusCode).toBe(200);
    // The stored response is the compressed one, although it is not text: gzip begins with 1f 8b 08, and the decompressed content would be zeros.
    expect([...answer.text!.slice(0, 3)]).toEqual(['\x1f', '\ufffd', '\x08']);
    expect(answer.text!.length).toBeLessThanOrEqual(2_000);
  });

  it('accepts connections and never responds does not delay the others of its host for longer than one attempt', async () => {
    const to = newClient();
    const url = await endpoint(createServer());
    // If all shared the two connections of a host, the last would wait for twenty attempts.
    const all = await Promise.all(Array.from({ length: 40 }, () => post(to, url)));
    for (const { errorClass, durationMs } of all) {
      expect(errorClass).toBe('timeout');
      expect(durationMs).toBeLessThan(MAX_ABORT_MS);
    }
  });
});
