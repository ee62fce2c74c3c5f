import { HostedGatewayClient } from './hosted-gateway-client.js';

const ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const ATTEMPT = { attemptNumber: 1, startedUTCDate: '2026-03-01T10:00:00.000Z', durationMs: 12, outcome: 'refused' };
const DELIVERY = { id: ID, webhookId: ID, paymentReference: '1H2J3K4M5N6P7Q8R9S', state: 'exhausted', attemptCount: 1 };
const SUCCESS = { status: 'Success', errors: [] };

let sentRequests: { method: string | undefined; url: string; headers: unknown; body: unknown }[];
beforeEach(() => (sentRequests = []));

function createClient(status: number, body: unknown, headers: Record<string, string> = {}): HostedGatewayClient {
  return new HostedGatewayClient({
    gatewayUrl: 'https://pay.example',
    merchantId: 7,
    siteId: 71,
    apiKey: 'svc_test_site_key',
    fetch: async (url, init) => {
      sentRequests.push({ method: init?.method, url: url as string, headers: init?.headers, body: init?.body });
      return new Response(JSON.stringify(body), { status, headers });
    },
    wait: () => Promise.resolve(),
  });
}

test.each([
  [undefined, ''],
  [{}, ''],
  [{ state: 'exhausted' }, '?state=exhausted'],
  [{ after: ID }, `?after=${ID}`],
  [{ state: 'gone', after: ID }, `?state=gone&after=${ID}`],
] as const)('list(%j) requests the query %p', async (query, expected) => {
  const page = { deliveries: [DELIVERY], hasMore: true, after: ID, ...SUCCESS };
  const result = await createClient(200, page).webhooks.deliveries.list(query);
  expect(result).toEqual({ deliveries: [DELIVERY], hasMore: true, after: ID });
  expect(sentRequests).toEqual([
    {
      method: 'GET',
      url: `https://pay.example/api/v3.1/deliveries${expected}`,
      headers: expect.objectContaining({
        merchantId: '7',
        merchantSiteId: '71',
        'x-api-key': 'svc_test_site_key',
      }) as object,
      body: undefined,
    },
  ]);
});

test('`after` is undefined on the last page', async () => {
  const last = { deliveries: [], hasMore: false, ...SUCCESS };
  expect(await createClient(200, last).webhooks.deliveries.list()).toEqual({
    deliveries: [],
    hasMore: false,
    after: undefined,
  });
});

test.each([
  [{ hasMore: true }, 'deliveries'],
  [{ deliveries: [] }, 'hasMore'],
  [{ deliveries: [7], hasMore: true }, 'deliveries'],
  [{ deliveries: [{ ...DELIVERY, id: 7 }], hasMore: true }, 'id'],
  [{ deliveries: [{ ...DELIVERY, webhookId: 7 }], hasMore: true }, 'webhookId'],
  [{ deliveries: [{ ...DELIVERY, paymentReference: 7 }], hasMore: true }, 'paymentReference'],
  [{ deliveries: [{ ...DELIVERY, state: 7 }], hasMore: true }, 'state'],
  [{ deliveries: [], hasMore: true, after: 7 }, 'after'],
])('list() refuses the malformed response body %j', async (body, field) => {
  const message = expect.stringContaining(`${field} is missing or malformed`) as string;
  await expect(createClient(200, body).webhooks.deliveries.list()).rejects.toMatchObject({ message });
});

test('get() returns a delivery with its attempts, and refuses a response without attempts', async () => {
  const client = createClient(200, { ...DELIVERY, attempts: [ATTEMPT], ...SUCCESS });
  expect(await client.webhooks.deliveries.get(ID)).toEqual({ ...DELIVERY, attempts: [ATTEMPT] });
  expect(sentRequests[0]).toMatchObject({ method: 'GET', url: `https://pay.example/api/v3.1/deliveries/${ID}` });
  const message = expect.stringContaining('attempts is missing or malformed') as string;
  await expect(createClient(200, DELIVERY).webhooks.deliveries.get(ID)).rejects.toMatchObject({ message });
});

test('resend() sends one request, even if it is refused with 429', async () => {
  await createClient(202, SUCCESS).webhooks.deliveries.resend(ID);
  expect(sentRequests).toEqual([
    expect.objectContaining({ method: 'POST', url: `https://pay.example/api/v3.1/deliveries/${ID}/resend` }),
  ]);
  sentRequests = [];
  const refusedClient = createClient(
    429,
    { status: 'BadRequest', errors: [{ message: 'Wait.' }] },
    { 'retry-after': '9' },
  );
  await expect(refusedClient.webhooks.deliveries.resend(ID)).rejects.toMatchObject({
    httpStatus: 429,
    retryAfterSeconds: 9,
  });
  expect(sentRequests).toHaveLength(1);
});

test.each(['', '..', 'a/b', 'x'.repeat(101), 7 as unknown as string])(
  'the client refuses the malformed id %p without a request',
  async (id) => {
    const { deliveries } = createClient(200, {}).webhooks;
    await expect(deliveries.get(id)).rejects.toThrow('id is malformed');
    await expect(deliveries.resend(id)).rejects.toThrow('id is malformed');
    expect(sentRequests).toEqual([]);
  },
);
