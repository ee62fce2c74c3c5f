import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdministration } from './administration.ts';

const HINT = 'look at SVC_ADMIN_URL';

describe('the administration API, as the commands call it', () => {
  let server: Server;
  let answer: { status: number; body: string };
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.writeHead(answer.status, { 'x-request-id': `request to ${request.url}` }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const asked = (status: number, body: string) => {
    answer = { status, body };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return createAdministration(url, 'the-key', HINT).call('GET', '/merchants');
  };

  it('answers JSON, or nothing', async () => {
    expect(await asked(200, '{"merchants":[]}')).toEqual({ merchants: [] });
    expect(await asked(204, '')).toBeUndefined();
  });

  it.each([
    ['another program answers', 200, '<h1>Welcome</h1>', { message: /is not the administration API/, hint: HINT }],
    ['it refuses', 400, '{"errors":[{"message":"name is missing"}]}', { message: /refused \(400\): name is missing/ }],
    ['it fails', 502, 'Bad Gateway', { message: /answered 502/, hint: /request to \/admin\/v1\/merchants/ }],
    ['the key is wrong', 401, '', { message: /key is refused/ }],
  ])(
    'says what to do where %s',
    async (_, status, body, { message, hint = /^$/ }: { message: RegExp; hint?: unknown }) => {
      const error = await asked(status, body).catch((e: unknown) => e);
      expect(error).toMatchObject({ name: 'SvcError', message: expect.stringMatching(message) });
      expect((error as { hint?: string }).hint ?? '').toMatch(hint as RegExp | string);
    },
  );
});
