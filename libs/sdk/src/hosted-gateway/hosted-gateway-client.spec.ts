import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SvcApiError } from '../svc-api-error.js';
import { type CreateSessionRequest, HostedGatewayClient } from './hosted-gateway-client.js';

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Closes the connection without a response. */
  drop?: boolean;
  /** Accepts the request and never responds. */
  hang?: boolean;
}

const session: CreateSessionRequest = {
  requestId: 'request-1',
  merchantOrderId: 'order-1001',
  amount: 12345,
  currencyISOCode: 'ZAR',
  notificationUrl: 'https://shop.example/notify',
  returnUrl: 'https://shop.example/thanks',
  cancelUrl: 'https://shop.example/cart',
  origin: 'shop.example',
};
const sessionCreated: Reply = {
  status: 201,
  body: { sessionId: 's-1', redirectUrl: 'https://pay.example/pay?sessionId=s-1', status: 'Success', errors: [] },
};
const payment = {
  sessionId: 's-1',
  amount: 12345,
  currencyISOCode: 'ZAR',
  merchantOrderId: 'order-1001',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentStatus: 1,
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  status: 'Success',
  paymentMethod: '**** 4242',
};

let server: Server;
let replies: Reply[];
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
let pauses: number[];
let time: number;

beforeEach(async () => {
  replies = [];
  requests = [];
  pauses = [];
  time = 0;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const reply = replies.shift() ?? { status: 500 };
      if (reply.drop) return response.destroy();
      if (reply.hang) return undefined;
      response.writeHead(reply.status ?? 200, { 'x-request-id': 'req-77', ...reply.headers });
      return response.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('the warnings of a session in test mode', () => {
  const warnings = [{ field: 'orderId', message: 'orderId was ignored: rename orderId to merchantOrderId' }];

  it('are returned and printed', async () => {
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation();
    replies = [{ ...sessionCreated, body: { ...(sessionCreated.body as object), warnings } }];
    expect(await createClient().createSession(session)).toMatchObject({ warnings });
    expect(emitWarning.mock.calls).toEqual([[warnings[0]!.message, 'SvcRequestWarning']]);
    emitWarning.mockRestore();
  });

  it('are empty without any', async () => {
    replies = [sessionCreated];
    expect((await createClient().createSession(session)).warnings).toEqual([]);
  });
});

test('an address that already has the path of the API is refused', () => {
  const create = (gatewayUrl: string) => new HostedGatewayClient({ gatewayUrl, merchantId: 1, siteId: 2 });
  for (const path of ['/api/v3.1', '/edge/api/v3/'])
    expect(() => create(`https://pay.example${path}`)).toThrow('gatewayUrl must be the address without /api/v3.1');
});

function createClient(options: { apiKey?: string; version?: 'v3'; timeoutMs?: number } = {}) {
  return new HostedGatewayClient({
    gatewayUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/edge/`,
    merchantId: 17,
    siteId: '42',
    wait: async (milliseconds) => {
      pauses.push(milliseconds);
      time += milliseconds;
    },
    monotonicNow: () => time,
    random: () => 0.5,
    ...options,
  });
}

async function catchApiError(call: Promise<unknown>): Promise<SvcApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcApiError);
  return error as SvcApiError;
}

describe('HostedGatewayClient', () => {
  it('creates a session with the documented headers and body', async () => {
    replies = [sessionCreated];
    expect(await createClient({ apiKey: 'svc_test_site_1' }).createSession(session)).toEqual({
      sessionId: 's-1',
      redirectUrl: 'https://pay.example/pay?sessionId=s-1',
      replayed: false,
      warnings: [],
      state: 'open',
    });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/edge/api/v3.1/sessions',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          merchantid: '17',
          merchantsiteid: '42',
          'x-api-key': 'svc_test_site_1',
        },
      },
    ]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual(session);
  });

  it.each([
    ['https://pay.example', 'https://pay.example/api/v3.1/payments/P'],
    ['https://example.com/edge//', 'https://example.com/edge/api/v3.1/payments/P'],
  ])('appends its paths to the base URL %s', async (gatewayUrl, url) => {
    const fetch = jest.fn(() => Promise.resolve(Response.json(payment)));
    await new HostedGatewayClient({ gatewayUrl, merchantId: 1, siteId: 2, fetch }).getPayment('P');
    expect(fetch).toHaveBeenCalledWith(url, expect.anything());
  });

  it.each([
    [{}, 'payments'],
    [{ payments: payment }, 'payments'],
    [{ payments: [null] }, 'payment'],
  ])('refuses %j as a list of payments', async (body, field) => {
    replies = [{ body }];
    await expect(createClient().listPayments('s-1')).rejects.toThrow(`${field} is missing or malformed`);
  });

  it.each([
    [{ hasMore: false }, 'notifications'],
    [{ notifications: {}, hasMore: false }, 'notifications'],
    [{ notifications: [null], hasMore: false }, 'notifications'],
    [{ notifications: [{ notification: payment }], hasMore: false }, 'id'],
    [{ notifications: [{ id: 'n', notification: null }], hasMore: false }, 'payment'],
    [{ notifications: [] }, 'hasMore'],
    [{ notifications: [], hasMore: 'no' }, 'hasMore'],
    [{ notifications: [], hasMore: false, after: 7 }, 'after'],
  ])('refuses %j as a page of notifications', async (body, field) => {
    replies = [{ body }];
    await expect(createClient().listNotifications()).rejects.toThrow(`${field} is missing or malformed`);
  });

  it.each(['', '..', 'a/b', 'x'.repeat(101), 7 as never])('sends no request for the malformed id %j', async (id) => {
    await expect(createClient().cancelSession(id)).rejects.toThrow('sessionId is malformed');
    await expect(createClient().getPayment(id)).rejects.toThrow('paymentReference is malformed');
    expect(requests).toEqual([]);
  });

  it('supports the API version v3, and sends no key header if the options have no key', async () => {
    replies = [sessionCreated];
    await createClient({ version: 'v3' }).createSession(session);
    expect(requests[0]?.url).toBe('/edge/api/v3/sessions');
    expect(requests[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('retries after a lost connection, a 503 and a 429, and waits as long as Retry-After requires', async () => {
    replies = [
      { drop: true },
      { status: 503, headers: { 'retry-after': '2' } },
      { status: 429, headers: { 'retry-after': '3' } },
      { ...sessionCreated, headers: { 'idempotency-replayed': 'true' } },
    ];
    expect(await createClient().createSession(session)).toMatchObject({ sessionId: 's-1', replayed: true });
    expect(pauses).toEqual([250, 2000, 3000]);
    expect(new Set(requests.map((request) => request.body)).size).toBe(1);
  });

  it('reads a date in Retry-After relative to the Date of the response', async () => {
    const date = 'Fri, 20 Nov 2026 18:00:00 GMT';
    replies = [{ status: 503, headers: { date, 'retry-after': 'Fri, 20 Nov 2026 18:00:04 GMT' } }, sessionCreated];
    await createClient().createSession(session);
    expect(pauses).toEqual([4000]);
  });

  it('gives up after four attempts', async () => {
    replies = [1, 2, 3, 4, 5].map(() => ({ drop: true }));
    expect(await catchApiError(createClient().createSession(session))).toMatchObject({
      httpStatus: 0,
      retryable: true,
    });
    expect(requests).toHaveLength(4);
    expect(pauses).toEqual([250, 500, 1000]);
  });

  it('makes no further attempt if Retry-After exceeds the time limit of the call', async () => {
    replies = [{ status: 429, headers: { 'retry-after': '3600' } }];
    const error = await catchApiError(createClient().createSession(session));
    expect(error).toMatchObject({ httpStatus: 429, retryable: true, retryAfterSeconds: 3600 });
    expect(pauses).toEqual([]);
  });

  it('sends the request again if the server does not respond within the timeout', async () => {
    replies = [{ hang: true }, sessionCreated];
    await createClient({ timeoutMs: 200 }).createSession(session);
    expect(requests).toHaveLength(2);
  });

  it('retries after a 409 with Retry-After, but not after a 409 without it', async () => {
    replies = [{ status: 409, headers: { 'retry-after': '1' } }, sessionCreated];
    await createClient().createSession(session);
    expect(pauses).toEqual([1000]);

    replies = [{ status: 409, body: { status: 'BadRequest', errors: [{ message: 'requestId: other content' }] } }];
    expect(await catchApiError(createClient().createSession(session))).toMatchObject({
      httpStatus: 409,
      retryable: false,
    });
  });

  it('throws an error with the fields of the envelope and the request id', async () => {
    const errors = [{ message: 'amount must be positive' }, { message: 'origin is missing' }];
    replies = [{ status: 400, body: { status: 'BadRequest', errors } }];
    const error = await catchApiError(createClient().createSession(session));
    expect(error).toMatchObject({
      httpStatus: 400,
      status: 'BadRequest',
      errors,
      requestId: 'req-77',
      retryable: false,
    });
    expect(error.message).toBe('400: amount must be positive; origin is missing');
    expect(requests).toHaveLength(1);
  });

  it('throws an error for a response without an envelope', async () => {
    replies = [{ status: 401 }];
    expect(await catchApiError(createClient().getPayment('X'))).toMatchObject({ status: 'Unauthorized', errors: [] });
    replies = [{ status: 201, body: { redirectUrl: 1 } }];
    expect(await catchApiError(createClient().createSession(session))).toMatchObject({
      httpStatus: 201,
      retryable: false,
    });
  });

  it('does not follow a redirect, which would send the key to another address', async () => {
    replies = [1, 2, 3, 4].map(() => ({ status: 307, headers: { location: '/elsewhere' } }));
    await catchApiError(createClient({ apiKey: 'svc_test_site_1' }).createSession(session));
    expect(new Set(requests.map((request) => request.url))).toEqual(new Set(['/edge/api/v3.1/sessions']));
  });

  it('returns payments, and converts numeric enumerations to text', async () => {
    replies = [{ body: { payments: [payment], status: 'Success', errors: [] } }, { body: payment }];
    const expected = { ...payment, paymentStatus: 'Success' };
    expect(await createClient().listPayments('s 1&x=2')).toEqual([expected]);
    expect(await createClient().getPayment('1VQ5K3P0ABCDEFGHJK')).toEqual(expected);
    expect(requests.map((request) => request.url)).toEqual([
      '/edge/api/v3.1/payments?sessionId=s%201%26x%3D2',
      '/edge/api/v3.1/payments/1VQ5K3P0ABCDEFGHJK',
    ]);
  });

  it('returns the feed of notifications page by page', async () => {
    const id = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
    replies = [
      {
        body: {
          notifications: [{ id, notification: payment }],
          after: 'a-1',
          hasMore: true,
          status: 'Success',
          errors: [],
        },
      },
      { body: { notifications: [], after: 'a-1', hasMore: false, status: 'Success', errors: [] } },
      { body: { notifications: [], hasMore: false, status: 'Success', errors: [] } },
    ];
    expect(await createClient().listNotifications()).toEqual({
      notifications: [{ id, payment: { ...payment, paymentStatus: 'Success' } }],
      after: 'a-1',
      hasMore: true,
    });
    expect(await createClient().listNotifications('a-1')).toMatchObject({ notifications: [], hasMore: false });
    expect((await createClient().listNotifications()).after).toBeUndefined();
    expect(requests.slice(0, 2).map(({ url }) => url)).toEqual([
      '/edge/api/v3.1/notifications',
      '/edge/api/v3.1/notifications?after=a-1',
    ]);
    replies = [
      { body: { notifications: [{ notification: payment }], hasMore: false } },
      { body: { notifications: [] } },
    ];
    for (let i = 0; i < 2; i++)
      expect(await catchApiError(createClient().listNotifications())).toMatchObject({ retryable: false });
  });

  it('returns the state of a session for a repeated requestId, and in getSession', async () => {
    const cancelledSession = {
      sessionId: 's-1',
      redirectUrl: 'https://pay.example/pay?sessionId=s-1',
      sessionState: 'cancelled',
      requestId: 'r-1',
      merchantOrderId: 'o-1',
      amount: 12_345,
      currencyISOCode: 'ZAR',
      createdUTCDate: '2026-11-20T18:00:00.000Z',
      expiresUTCDate: '2026-11-20T18:30:00.000Z',
    };
    replies = [
      { status: 201, headers: { 'idempotency-replayed': 'true' }, body: cancelledSession },
      { body: cancelledSession },
      { body: { ...cancelledSession, sessionState: 'gone' } },
    ];
    expect(await createClient().createSession(session)).toMatchObject({ replayed: true, state: 'cancelled' });
    const { sessionState, ...rest } = cancelledSession;
    expect(await createClient().getSession('s-1')).toEqual({ ...rest, state: sessionState });
    expect(requests[1]).toMatchObject({ method: 'GET', url: '/edge/api/v3.1/sessions/s-1' });
    await expect(createClient().getSession('s-1')).rejects.toThrow('sessionState is missing or malformed');
    await expect(createClient().getSession('..')).rejects.toThrow(new TypeError('sessionId is malformed'));
  });

  it.each(['open', 'processing', 'completed', 'refused', 'expired', 'cancelled'])(
    'returns the state %s of a session that an earlier request created',
    async (state) => {
      replies = [{ status: 200, body: { ...(sessionCreated.body as object), sessionState: state } }];
      expect((await createClient().createSession(session)).state).toBe(state);
    },
  );

  it('sends a cancellation only once, and no request for a malformed id', async () => {
    replies = [{ status: 200, body: { sessionId: 's-1', status: 'Success', errors: [] } }, { drop: true }];
    await createClient().cancelSession('s-1');
    expect(await catchApiError(createClient().cancelSession('s-1'))).toMatchObject({ httpStatus: 0 });
    expect(requests.map((request) => `${request.method} ${request.url}`)).toEqual([
      'DELETE /edge/api/v3.1/sessions/s-1',
      'DELETE /edge/api/v3.1/sessions/s-1',
    ]);
    await expect(createClient().cancelSession('..')).rejects.toThrow(TypeError);
    await expect(createClient().getPayment('a/b')).rejects.toThrow(TypeError);
  });
});
