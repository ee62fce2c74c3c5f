import { randomUUID } from 'node:crypto';
import { type Delivery, GetDeliveryV1, ListDeliveriesV1, ResendDeliveryV1 } from '@svc/contracts';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

const CALLS_PER_MINUTE = 6;
const ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const DELIVERY: Delivery = {
  id: ID,
  webhookId: ID,
  recipient: 'session',
  type: 'payment',
  sessionId: ID,
  paymentReference: '1H2J3K4M5N6P7Q8R9S',
  paymentStatus: 'Failed',
  url: 'https://shop.example/hook',
  state: 'gone',
  attemptCount: 1,
  createdUTCDate: '2026-03-01T10:00:00.000Z',
  deliveredUTCDate: null,
  nextAttemptUTCDate: null,
  missingKeys: null,
  lastAttempt: null,
};

let gateway: Gateway;
let merchant: Merchant;
let sentCommands: unknown[];
beforeAll(async () => {
  gateway = await startGateway({ SVC_DELIVERIES_CALLS_PER_MINUTE: String(CALLS_PER_MINUTE) });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  sentCommands = [];
  merchant = await gateway.createMerchant();
  const recordAndReply = (reply: unknown) => (request: unknown) => {
    sentCommands.push(request);
    return { ok: true as const, reply };
  };
  await gateway.respondTo(ListDeliveriesV1, recordAndReply({ deliveries: [DELIVERY], hasMore: true, after: ID }));
  await gateway.respondTo(GetDeliveryV1, recordAndReply({ ...DELIVERY, attempts: [] }));
  await gateway.respondTo(ResendDeliveryV1, recordAndReply({ due: true }));
});

const buildOwner = ({ merchantId, siteId }: Merchant, mode = 'test') => ({ merchantId, siteId, mode });
const SUCCESS = { status: 'Success', errors: [] };

test.each(['v3.1', 'v3'])(
  'API %s lists, reads and resends deliveries of the site and mode of the key',
  async (version) => {
    const { headers } = merchant;
    const baseUrl = `/api/${version}/deliveries`;
    const list = await gateway.call('GET', `${baseUrl}?state=gone&after=${ID}`, { headers });
    expect([list.status, list.body, list.headers['cache-control']]).toEqual([
      200,
      { deliveries: [DELIVERY], hasMore: true, after: ID, ...SUCCESS },
      'no-store',
    ]);
    const delivery = await gateway.call('GET', `${baseUrl}/${ID}`, { headers });
    expect([delivery.status, delivery.body]).toEqual([200, { ...DELIVERY, attempts: [], ...SUCCESS }]);
    const resent = await gateway.call('POST', `${baseUrl}/${ID}/resend`, { headers });
    expect([resent.status, resent.body]).toEqual([202, SUCCESS]);
    const owner = buildOwner(merchant);
    expect(sentCommands).toEqual([
      { owner, state: 'gone', after: ID },
      { owner, id: ID },
      { owner, id: ID, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
    ]);
  },
);

test('with a live key and empty query parameters the API lists live deliveries in all states', async () => {
  const { merchantId, siteId } = merchant;
  const live = await gateway.createMerchant({ merchantId, siteId, mode: 'live' });
  await gateway.call('GET', '/api/v3.1/deliveries?state=&after=', { headers: live.headers });
  expect(sentCommands).toEqual([{ owner: buildOwner(merchant, 'live') }]);
});

test('the API requires a key, also from a site that needs none for other calls', async () => {
  const keylessSite = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  for (const { headers } of [merchant, keylessSite]) {
    const { 'x-api-key': _, ...keyless } = headers;
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${ID}`],
      ['POST', `/${ID}/resend`],
    ] as const)
      expect((await gateway.call(method, `/api/v3.1/deliveries${path}`, { headers: keyless })).status).toBe(401);
  }
  expect(sentCommands).toEqual([]);
});

test.each(['nothing', `${ID}x`, 'x'.repeat(150)])(
  'the invalid id %s gets a 404, and the API sends no command',
  async (id) => {
    const { headers } = merchant;
    expect((await gateway.call('GET', `/api/v3.1/deliveries/${id}`, { headers })).status).toBe(404);
    expect((await gateway.call('POST', `/api/v3.1/deliveries/${id}/resend`, { headers })).status).toBe(404);
    expect(sentCommands).toEqual([]);
  },
);

test.each(['state=none', 'state=gone&state=gone', `after=${ID}x`, `after=${ID}&after=${ID}`])(
  'the invalid query %s gets a 400, and the API sends no command',
  async (query) => {
    const { status, body } = await gateway.call('GET', `/api/v3.1/deliveries?${query}`, { headers: merchant.headers });
    expect([status, body['errors']]).toEqual([
      400,
      [{ message: expect.stringMatching(/^(state|after) must be /) as string }],
    ]);
    expect(sentCommands).toEqual([]);
  },
);

test('the API returns an error of webhook-dispatcher, with Retry-After', async () => {
  await gateway.respondTo(ResendDeliveryV1, () => ({
    ...{ ok: false as const, code: 'request.rate-limited' as const, message: 'Wait.', fields: [] },
    retryAfterSeconds: 9,
  }));
  const path = `/api/v3.1/deliveries/${randomUUID()}/resend`;
  const { status, headers, body } = await gateway.call('POST', path, { headers: merchant.headers });
  expect([status, headers['retry-after'], body]).toEqual([
    429,
    '9',
    { status: 'BadRequest', errors: [{ message: 'Wait.' }] },
  ]);
});

test('the API limits the calls of each merchant, site and mode separately', async () => {
  const { merchantId, siteId, headers } = merchant;
  const listDeliveries = async (callerHeaders: Record<string, string>): Promise<number> =>
    (await gateway.call('GET', '/api/v3.1/deliveries', { headers: callerHeaders })).status;
  for (let count = 0; count < CALLS_PER_MINUTE; count++) expect(await listDeliveries(headers)).toBe(200);
  expect(await listDeliveries(headers)).toBe(429);
  const live = await gateway.createMerchant({ merchantId, siteId, mode: 'live' });
  expect(await listDeliveries(live.headers)).toBe(200);
  expect(await listDeliveries((await gateway.createMerchant({ merchantId })).headers)).toBe(200);
  expect(await listDeliveries((await gateway.createMerchant({ siteId })).headers)).toBe(200);
  gateway.clock.advance(60_001);
  expect(await listDeliveries(headers)).toBe(200);
});
