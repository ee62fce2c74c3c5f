import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { RunningService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { FRONT_TIMEOUTS_MS, newFront, stopListening } from './front.js';

/** A service that reads the whole body before it responds, as the real services do. */
const readsBodies = {
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

interface LateAnswer {
  write(text: string): void;
  end(text: string): void;
}

/** A front whose responses have begun, and end when the test ends them. */
async function answeringLater(timeoutsMs: Record<keyof typeof FRONT_TIMEOUTS_MS, number> = FRONT_TIMEOUTS_MS): Promise<{
  front: Server;
  answers: LateAnswer[];
  ask: (accept: string) => Promise<{ text: Promise<string> }>;
}> {
  const answers: LateAnswer[] = [];
  const answersLater = {
    name: 'hosted-gateway',
    app: {
      getHttpAdapter: () => ({
        getInstance: () => ({
          routing: (_: unknown, response: LateAnswer) => {
            response.write('begun ');
            answers.push(response);
          },
        }),
      }),
    },
  } as unknown as RunningService;
  const front = newFront('gateway', [answersLater], { timeoutsMs });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const ask = async (accept: string): Promise<{ text: Promise<string> }> => {
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
    const whole = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    socket.write(`GET /pay/1 HTTP/1.1\r\nHost: gateway\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`);
    await once(socket, 'data');
    return { text: whole };
  };
  return { front, answers, ask };
}

test('stopping waits for a response in flight, but not for an event stream', async () => {
  const { front, answers, ask } = await answeringLater();
  const page = await ask('text/html');
  const stream = await ask('text/event-stream');
  const other = await ask('text/event-stream, */*;q=0.1');
  const stopped = stopListening(front);
  expect(await stream.text).not.toContain('done');
  expect(await other.text).not.toContain('done');
  answers[0]!.end('done');
  expect(await page.text).toContain('done');
  await stopped;
});

test('the request timeouts do not cut a long response', async () => {
  const { front, answers, ask } = await answeringLater({ head: 100, request: 200, checkedEvery: 20 });
  const stream = await ask('text/event-stream');
  const begin = performance.now();
  await waitUntil('more than the timeouts', 5_000, async () => {
    answers[0]!.write('.');
    return performance.now() - begin > 500;
  });
  answers[0]!.end('done');
  expect(await stream.text).toContain('done');
  await stopListening(front);
});

test('stopping waits only for a bounded time for a response that does not end', async () => {
  const { front, ask } = await answeringLater();
  const endless = await ask('*/*');
  await stopListening(front, 20);
  expect(await endless.text).not.toContain('done');
});

describe('newFront', () => {
  let front: Server;
  beforeAll(async () => {
    front = newFront('gateway', [readsBodies], { timeoutsMs: { head: 100, request: 200, checkedEvery: 20 } });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
  });
  afterAll(() => {
    front.closeAllConnections();
    front.close();
  });

  /** The whole response to these bytes, until the front closes the connection. */
  async function answerTo(bytes: string): Promise<string> {
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.write(bytes);
    await once(socket, 'close');
    return answer;
  }

  it('disconnects a client that never completes its headers', async () => {
    expect(await answerTo('GET /pay HTTP/1.1\r\nHost: gateway\r\nX-Slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  it('disconnects a client that never completes its body', async () => {
    expect(await answerTo('POST /pay/x HTTP/1.1\r\nHost: gateway\r\nContent-Length: 9\r\n\r\n{')).toMatch(
      /^HTTP\/1.1 408 /,
    );
  });

  it('forwards a complete request', async () => {
    const whole = 'POST /pay/x HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    expect(await answerTo(whole)).toMatch(/^HTTP\/1.1 200 .*read/s);
  });

  it.each(['//admin/v1/merchants', '/pay;/../admin', '/%61dmin/v1/merchants', 'http://gateway/pay', '/PAY'])(
    'forwards %s to no service',
    async (path) => {
      expect(await answerTo(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 404 /,
      );
    },
  );
});
