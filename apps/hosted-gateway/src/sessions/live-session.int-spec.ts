import { buildSessionRequest, type Gateway, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ SVC_ACQUIRER_LIVE: 'off' });
});
afterAll(() => gateway.stop());

test.each(['v3', 'v3.1'])(
  'API %s: without an acquirer for live payments a live key cannot create a session, and a test key can',
  async (version) => {
    const { headers, merchantId, siteId } = await gateway.createMerchant({ mode: 'live' });
    const create = (keys: Record<string, string>) =>
      gateway.call('POST', `/api/${version}/sessions`, { headers: keys, payload: buildSessionRequest() });
    const refused = await create(headers);
    expect([refused.status, refused.text]).toEqual([403, expect.stringMatching(/Use a test key/)]);
    const sessions = await gateway.dataSource.query<unknown[]>(`SELECT 1 FROM sessions WHERE merchant_id = $1`, [
      merchantId,
    ]);
    expect(sessions).toEqual([]);
    const testKey = await gateway.createMerchant({ merchantId, siteId, mode: 'test' });
    expect((await create(testKey.headers)).status).toBe(201);
  },
);

test('a live key can create a session if Adyen is the acquirer of live payments', async () => {
  const live = await startGateway({ SVC_ACQUIRER_LIVE: 'adyen' });
  try {
    const { headers } = await live.createMerchant({ mode: 'live' });
    const { status } = await live.call('POST', '/api/v3.1/sessions', { headers, payload: buildSessionRequest() });
    expect(status).toBe(201);
  } finally {
    await live.stop();
  }
});
