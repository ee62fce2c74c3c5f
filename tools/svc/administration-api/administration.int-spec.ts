import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdministration, readList } from './administration.ts';

const HINT = 'look at SVC_ADMIN_URL';

describe('the client of the administration API', () => {
  let server: Server;
  let response: { status: number; body: string };
  let respond: (url: string, requests: number) => { status: number; body: string };
  let requests: string[];
  beforeEach(() => {
    requests = [];
    respond = () => response;
  });
  beforeAll(async () => {
    server = createServer((request, reply) => {
      requests.push(request.url!);
      response = respond(request.url!, requests.length);
      reply.writeHead(response.status, { 'x-request-id': `request to ${request.url}` }).end(response.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const connect = (options?: { notReadySeconds: number }) =>
    createAdministration(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'the-key', HINT, options);
  const callWithResponse = (status: number, body: string) => {
    response = { status, body };
    return connect().call('GET', '/merchants');
  };

  it('reads every page of a list', async () => {
    respond = (url) => ({
      status: 200,
      body: url.endsWith('after=0') ? '{"merchants":[1,2],"nextAfter":2}' : '{"merchants":[3]}',
    });
    expect(await readList(connect(), 'merchants', 0)).toEqual([1, 2, 3]);
    expect(requests).toEqual(['/admin/v1/merchants?after=0', '/admin/v1/merchants?after=2']);
  });

  it('repeats a request while a service is not ready', async () => {
    respond = (_url, count) => (count < 3 ? { status: 503, body: '{}' } : { status: 200, body: '{"name":"Karoo"}' });
    expect(await connect({ notReadySeconds: 30 }).call('GET', '/merchants/1')).toEqual({ name: 'Karoo' });
    expect(requests).toHaveLength(3);
  });

  it('returns the parsed JSON, or undefined for an empty response', async () => {
    expect(await callWithResponse(200, '{"merchants":[]}')).toEqual({ merchants: [] });
    expect(await callWithResponse(204, '')).toBeUndefined();
  });

  it.each([
    ['another program responds', 200, '<h1>Welcome</h1>', { message: /is not the administration API/, hint: HINT }],
    [
      'the API rejects the request',
      400,
      '{"errors":[{"message":"name is missing"}]}',
      { message: /refused \(400\): name is missing/ },
    ],
    ['the API fails', 502, 'Bad Gateway', { message: /answered 502/, hint: /request to \/admin\/v1\/merchants/ }],
    ['the key is wrong', 401, '', { message: /key is refused/, hint: /set SVC_OPERATOR_KEY/ }],
  ])(
    'throws an error with the reason when %s',
    async (_, status, body, { message, hint = /^$/ }: { message: RegExp; hint?: unknown }) => {
      const error = await callWithResponse(status, body).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: 'SvcError', message: expect.stringMatching(message) });
      expect((error as { hint?: string }).hint ?? '').toMatch(hint as RegExp | string);
    },
  );
});
