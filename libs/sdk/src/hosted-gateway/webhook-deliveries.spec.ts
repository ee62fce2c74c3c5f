import { HostedGatewayClient } from './hosted-gateway-client.js';

const ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const ATTEMPT = { attemptNumber: 1, startedUTCDate: '2026-03-01T10:00:00.000Z', durationMs: 12, outcome: 'refused' };
const DELIVERY = { id: ID, webhookId: ID, paymentReference: '1H2J3K4M5N6P7Q8R9S', state: 'exhausted', attemptCount: 1 };
const SUCCESS = { status: 'Success', errors: [] };

let sent: { method: string | undefined; url: string; headers: unknown; body: unknown }[];
beforeEach(() => (sent = []));

function clientOf(status: number, body: unknown, headers: Record<string, string> = {}): HostedGatewayClient {
  return new HostedGatewayClient({
    gatewayUrl: 'https://pay.example',
    merchantId: 7,
    siteId: 71,
    apiKey: 'svc_test_site_key',
    fetch: async (url, init) => {
      sent.push({ method: init?.method, url: url as string, headers: init?.headers, body: init?.body });
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
  const listed = await clientOf(200, page).webhooks.deliveries.list(query);
  expect(listed).toEqual({ deliveries: [DELIVERY], hasMore: true, after: ID });
  expect(sent).toEqual([
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

test('the last page has no after', async () => {
  const last = { deliveries: [], hasMore: false, ...SUCCESS };
  expect(await clientOf(200, last).webhooks.deliveries.list()).toEqual({
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
])('a list with the body %j is an error', async (body, field) => {
  const message = expect.stringContaining(`${field} is missing or malformed`) as string;
  await expect(clientOf(200, body).webhooks.deliveries.list()).rejects.toMatchObject({ message });
});

test('a single delivery has its attempts', async () => {
  const answered = clientOf(200, { ...DELIVERY, attempts: [ATTEMPT], ...SUCCESS });
  expect(await answered.webhooks.deliveries.get(ID)).toEqual({ ...DELIVERY, attempts: [ATTEMPT] });
  expect(sent[0]).toMatchObject({ method: 'GET', url: `https://pay.example/api/v3.1/deliveries/${ID}` });
  const message = expect.stringContaining('attempts is missing or malformed') as string;
  await expect(clientOf(200, DELIVERY).webhooks.deliveries.get(ID)).rejects.toMatchObject({ message });
});

test('a resend is requested once, whatever the response', async () => {
  await clientOf(202, SUCCESS).webhooks.deliveries.resend(ID);
  expect(sent).toEqual([
    expect.objectContaining({ method: 'POST', url: `https://pay.example/api/v3.1/deliveries/${ID}/resend` }),
  ]);
  sent = [];
  const refused = clientOf(429, { status: 'BadRequest', errors: [{ message: 'Wait.' }] }, { 'retry-after': '9' });
  await expect(refused.webhooks.deliveries.resend(ID)).rejects.toMatchObject({ httpStatus: 429, retryAfterSeconds: 9 });
  expect(sent).toHaveLength(1);
});

test.each(['', '..', 'a/b', 'x'.repeat(101), 7 as unknown as string])(
  'the client refuses the malformed id %p without a request',
  async (id) => {
    const { deliveries } = clientOf(200, {}).webhooks;
    await expect(deliveries.get(id)).rejects.toThrow('id is malformed');
    await expect(deliveries.resend(id)).rejects.toThrow('id is malformed');
    expect(sent).toEqual([]);
  },
);
