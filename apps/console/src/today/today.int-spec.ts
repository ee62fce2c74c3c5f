import { type CountUndelivered, CountUndeliveredV1, ERROR_CATALOGUE } from '@svc/contracts';
import { createMerchant, newPayment, startConsole, store, type TestConsole, withOrder } from '../../test/console.js';

let app: TestConsole;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

test('the page of an earlier day has its sales, its weekday before and its payments', async () => {
  const merchant = await createMerchant(app);
  const pay = (order: string, time: string) => store(app, withOrder(newPayment(merchant, new Date(time)), order));
  const today = app.clock.nowISO().slice(0, 10);
  expect(today).toBe('2026-03-01');
  await pay('too early', '2026-02-26T21:59:59.000Z');
  await pay('first', '2026-02-26T22:00:00.000Z');
  await pay('last', '2026-02-27T21:59:59.000Z');
  await pay('too late', '2026-02-27T22:00:00.000Z');
  await pay('a week before', '2026-02-20T20:00:00.000Z');
  const owner = app.signIn([merchant.grant('owner')]);
  const path = `/${merchant.merchantId}/test`;
  const { status, html, text } = await owner.get(`${path}?day=2026-02-27`);
  expect(status).toBe(200);
  expect([...html.matchAll(/class="order"[^>]*>([^<]+)</g)].map(([, order]) => order)).toEqual(['last', 'first']);
  expect(text).toContain('Sales of Friday, 2026-02-27');
  expect(text).toContain('Payments 2 The Friday before: 1');
  expect(text).toMatch(/Amount \(a week before\) \S.* 2 R 246\.90 \(R 123\.45\)/);
  for (const link of [
    `${path}?day=2026-02-26`,
    `${path}?day=2026-02-28`,
    `${path}/payments?from=2026-02-27&amp;to=2026-02-27`,
  ])
    expect(html).toContain(`href="${link}"`);
  const { text: ofToday } = await owner.get(path);
  expect(ofToday).toContain(`Today, ${today}`);
  expect(ofToday).toContain('‹ Yesterday');
});

describe('the page of today names the webhooks that were not delivered', () => {
  const requests: CountUndelivered[] = [];
  const answer = async (counts: readonly { siteIndex: 0 | 1; state: 'exhausted' | 'gone'; count: number }[]) => {
    const merchant = await createMerchant(app);
    requests.length = 0;
    await app.respondTo(CountUndeliveredV1, (request) => {
      requests.push(request);
      const reply = {
        counts: counts.map(({ siteIndex, ...rest }) => ({ siteId: merchant.sites[siteIndex], ...rest })),
      };
      return { ok: true, reply };
    });
    return { merchant, path: `/${merchant.merchantId}/test` };
  };

  test('of all sites, with links to their deliveries', async () => {
    const { merchant, path } = await answer([
      { siteIndex: 0, state: 'exhausted', count: 2 },
      { siteIndex: 1, state: 'gone', count: 100 },
    ]);
    const { html, text } = await app.signIn([merchant.grant('support')]).get(path);
    expect(text).toContain('Webhooks of the last 7 days that were not delivered: 102+.');
    expect(text).toContain('Shop 1, Failed: 2');
    expect(text).toContain('Shop 2, Refused with 410: 100+');
    const [first, second] = merchant.sites;
    expect(html).toContain(`href="${path}/developers?site=${first}&amp;state=exhausted"`);
    expect(html).toContain(`href="${path}/developers?site=${second}&amp;state=gone"`);
    const { merchantId } = merchant;
    expect(requests).toEqual([
      { merchantId, mode: 'test', siteIds: [...merchant.sites], from: app.clock.later(-7 * 86_400_000).toISOString() },
    ]);
    expect((await app.signIn([merchant.grant('owner')]).get(`${path}?day=2026-02-27`)).text).not.toContain('delivered');
  });

  test('of the sites whose deliveries the person may see', async () => {
    const { merchant, path } = await answer([]);
    expect((await app.signIn([merchant.grant('developer', merchant.sites[1])]).get(path)).text).not.toContain(
      'delivered',
    );
    await app.signIn([merchant.grant('finance')]).get(path);
    expect(requests.map(({ siteIds }) => siteIds)).toEqual([[merchant.sites[1]]]);
  });

  test('unless webhook-dispatcher does not respond', async () => {
    const { merchant, path } = await answer([]);
    const code = 'service.not-ready';
    await app.respondTo(CountUndeliveredV1, () => ({
      ok: false,
      code,
      message: ERROR_CATALOGUE[code].message,
      fields: [],
    }));
    const { status, text } = await app.signIn([merchant.grant('owner')]).get(path);
    expect([status, text.includes('delivered')]).toEqual([200, false]);
  });
});
