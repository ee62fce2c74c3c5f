import {
  type Browser,
  createMerchant,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
} from '../../test/console.js';
import { closeRequest, deliverRequest, newRequestPayment } from '../../test/requests.js';

let app: TestConsole;
let merchant: TestMerchant;
let owner: Browser;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  owner = app.signIn([merchant.grant('owner')]);
});

describe('the search of payments finds an unpaid request', () => {
  const search = async (text: string, browser = owner, query = ''): Promise<string[]> => {
    const { html } = await browser.get(`/${merchant.merchantId}/test/payments?q=${encodeURIComponent(text)}${query}`);
    return [...html.matchAll(/href="[^"]*\/requests\/([\w-]+)"/g)].map(([, reference]) => reference!);
  };

  test('by its order number, the beginning of it, its amount and its code', async () => {
    const reference = await deliverRequest(app, merchant, { amount: 987_654 });
    const code = reference.replaceAll(/\D/g, '').padEnd(20, '7').slice(0, 20);
    for (const text of ['cake-7', 'CAK', 'R 9 876.54', code])
      expect([text, await search(text)]).toEqual([text, [reference]]);
    for (const text of ['CA', 'AKE-7', 'CAKE_7', 'R 9 876.55', 'a\0b'])
      expect([text, await search(text)]).toEqual([text, []]);
    const { text } = await owner.get(`/${merchant.merchantId}/test/payments?q=cake-7`);
    expect(text).toContain('Unpaid payment requests');
    expect(text).toContain('No payments here.');
  });

  test('also after it was cancelled, and not after it was paid', async () => {
    const [open, ended, paid] = [
      await deliverRequest(app, merchant),
      await deliverRequest(app, merchant),
      await deliverRequest(app, merchant),
    ];
    await closeRequest(app, ended);
    await store(app, newRequestPayment(merchant, paid));
    expect((await search('CAKE-7')).sort()).toEqual([open, ended].sort());
  });

  test('not of another merchant, mode or site, and not beside a filter that only payments have', async () => {
    const [first, second] = merchant.sites;
    await deliverRequest(app, merchant, { mode: 'live' });
    const [atFirst, atSecond] = [
      await deliverRequest(app, merchant),
      await deliverRequest(app, merchant, { siteId: second }),
    ];
    const stranger = await createMerchant(app);
    expect((await search('CAKE-7')).sort()).toEqual([atFirst, atSecond].sort());
    expect(await search('CAKE-7', owner, `&site=${second}`)).toEqual([atSecond]);
    const ofOneSite = app.signIn([merchant.grant('support', first)]);
    expect(await search('CAKE-7', ofOneSite)).toEqual([atFirst]);
    expect(await search('CAKE-7', ofOneSite, `&site=${second}`)).toEqual([]);
    for (const query of ['&state=failed', '&method=Card', '&from=2026-01-01', '&to=2026-12-31'])
      expect([query, await search('CAKE-7', owner, query)]).toEqual([query, []]);
    merchant = stranger;
    expect(await search('CAKE-7', app.signIn([stranger.grant('owner')]))).toEqual([]);
  });
});
