import { aSessionRequest, type Gateway, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ SVC_ACQUIRER_LIVE: 'off' });
});
afterAll(() => gateway.stop());

test.each(['v3', 'v3.1'])(
  '%s: a live key creates no session without an acquirer for live payments',
  async (version) => {
    const { headers, merchantId, siteId } = await gateway.aMerchant({ mode: 'live' });
    const make = (keys: Record<string, string>) =>
      gateway.call('POST', `/api/${version}/sessions`, { headers: keys, payload: aSessionRequest() });
    const refused = await make(headers);
    expect([refused.status, refused.text]).toEqual([403, expect.stringMatching(/Use a test key/)]);
    const sessions = await gateway.dataSource.query<unknown[]>(`SELECT 1 FROM sessions WHERE merchant_id = $1`, [
      merchantId,
    ]);
    expect(sessions).toEqual([]);
    expect((await make((await gateway.aMerchant({ merchantId, siteId })).headers)).status).toBe(201);
  },
);
