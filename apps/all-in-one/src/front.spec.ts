import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { RunningService } from '@svc/service';
import { newFront } from './front.js';

/** A service that reads a whole body before it answers, as every real one does. */
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

describe('newFront', () => {
  let front: Server;
  beforeAll(async () => {
    front = newFront('gateway', [readsBodies], { head: 100, request: 200, checkedEvery: 20 });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
  });
  afterAll(() => {
    front.closeAllConnections();
    front.close();
  });

  /** All that the front says to these bytes until it closes the connection. */
  async function answerTo(bytes: string): Promise<string> {
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.write(bytes);
    await once(socket, 'close');
    return answer;
  }

  it('lets go of a client that never finishes its head', async () => {
    expect(await answerTo('GET /pay HTTP/1.1\r\nHost: gateway\r\nX-Slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  it('lets go of a client that never finishes its body', async () => {
    expect(await answerTo('POST /pay/x HTTP/1.1\r\nHost: gateway\r\nContent-Length: 9\r\n\r\n{')).toMatch(
      /^HTTP\/1.1 408 /,
    );
  });

  it('hands over what arrives whole', async () => {
    const whole = 'POST /pay/x HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    expect(await answerTo(whole)).toMatch(/^HTTP\/1.1 200 .*read/s);
  });

  it.each(['//admin/v1/merchants', '/pay;/../admin', '/%61dmin/v1/merchants', 'http://gateway/pay', '/PAY'])(
    'hands %s to nobody',
    async (path) => {
      expect(await answerTo(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 404 /,
      );
    },
  );
});
