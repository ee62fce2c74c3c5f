import { randomUUID } from 'node:crypto';
import { type Delivery, GetDeliveryV1, ListDeliveriesV1, ResendDeliveryV1 } from '@svc/contracts';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

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
let asked: unknown[];
beforeAll(async () => {
  gateway = await startGateway({ SVC_DELIVERIES_CALLS_PER_MINUTE: '6' });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  asked = [];
  merchant = await gateway.aMerchant();
  const answers = (reply: unknown) => (request: unknown) => {
    asked.push(request);
    return { ok: true as const, reply };
  };
  await gateway.responds(ListDeliveriesV1, answers({ deliveries: [DELIVERY], hasMore: true, after: ID }));
  await gateway.responds(GetDeliveryV1, answers({ ...DELIVERY, attempts: [] }));
  await gateway.responds(ResendDeliveryV1, answers({ due: true }));
});

const ownerOf = ({ merchantId, siteId }: Merchant, mode = 'test') => ({ merchantId, siteId, mode });
const SUCCESS = { status: 'Success', errors: [] };

it.each(['v3.1', 'v3'])(
  'API %s queries deliveries of the site and mode of the key, and returns them in the envelope',
  async (version) => {
    const { headers } = merchant;
    const at = `/api/${version}/deliveries`;
    const list = await gateway.call('GET', `${at}?state=gone&after=${ID}`, { headers });
    expect([list.status, list.body, list.headers['cache-control']]).toEqual([
      200,
      { deliveries: [DELIVERY], hasMore: true, after: ID, ...SUCCESS },
      'no-store',
    ]);
    const one = await gateway.call('GET', `${at}/${ID}`, { headers });
    expect([one.status, one.body]).toEqual([200, { ...DELIVERY, attempts: [], ...SUCCESS }]);
    const again = await gateway.call('POST', `${at}/${ID}/resend`, { headers });
    expect([again.status, again.body]).toEqual([202, SUCCESS]);
    const owner = ownerOf(merchant);
    expect(asked).toEqual([
      { owner, state: 'gone', after: ID },
      { owner, id: ID },
      { owner, id: ID },
    ]);
  },
);

it('requests live deliveries with a live key, and all states without a query', async () => {
  const { merchantId, siteId } = merchant;
  const live = await gateway.aMerchant({ merchantId, siteId, mode: 'live' });
  await gateway.call('GET', '/api/v3.1/deliveries?state=&after=', { headers: live.headers });
  expect(asked).toEqual([{ owner: ownerOf(merchant, 'live') }]);
});

it('requires a key, even for a site whose other calls need none', async () => {
  const open = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  for (const { headers } of [merchant, open]) {
    const { 'x-api-key': _, ...keyless } = headers;
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${ID}`],
      ['POST', `/${ID}/resend`],
    ] as const)
      expect((await gateway.call(method, `/api/v3.1/deliveries${path}`, { headers: keyless })).status).toBe(401);
  }
  expect(asked).toEqual([]);
});

it.each(['nothing', `${ID}x`, 'x'.repeat(150)])('sends no command for %s, which is not an id', async (id) => {
  const { headers } = merchant;
  expect((await gateway.call('GET', `/api/v3.1/deliveries/${id}`, { headers })).status).toBe(404);
  expect((await gateway.call('POST', `/api/v3.1/deliveries/${id}/resend`, { headers })).status).toBe(404);
  expect(asked).toEqual([]);
});

it.each(['state=none', 'state=gone&state=gone', `after=${ID}x`, `after=${ID}&after=${ID}`])(
  'rejects the invalid query %s with a 400, and sends no command',
  async (query) => {
    const { status, body } = await gateway.call('GET', `/api/v3.1/deliveries?${query}`, { headers: merchant.headers });
    expect([status, body['errors']]).toEqual([
      400,
      [{ message: expect.stringMatching(/^(state|after) must be /) as string }],
    ]);
    expect(asked).toEqual([]);
  },
);

it('passes on an error, with Retry-After', async () => {
  await gateway.responds(ResendDeliveryV1, () => ({
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

it('limits the calls of each site and mode, from any address', async () => {
  const { merchantId, siteId, headers } = merchant;
  const call = async (of: Record<string, string>): Promise<number> =>
    (await gateway.call('GET', '/api/v3.1/deliveries', { headers: of })).status;
  for (let nth = 0; nth < 6; nth++) expect(await call(headers)).toBe(200);
  expect(await call(headers)).toBe(429);
  const live = await gateway.aMerchant({ merchantId, siteId, mode: 'live' });
  expect(await call(live.headers)).toBe(200);
  expect(await call((await gateway.aMerchant({ merchantId })).headers)).toBe(200);
  expect(await call((await gateway.aMerchant({ siteId })).headers)).toBe(200);
  gateway.clock.advance(60_001);
  expect(await call(headers)).toBe(200);
});
