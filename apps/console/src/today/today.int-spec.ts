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
  expect(text).toContain('Sales of 2026-02-27');
  expect(text).toContain('Payments 2 The Friday before: 1');
  for (const link of [
    `${path}?day=2026-02-26`,
    `${path}?day=2026-02-28`,
    `${path}/payments?from=2026-02-27&amp;to=2026-02-27`,
  ])
    expect(html).toContain(`href="${link}"`);
  const { text: ofToday } = await owner.get(path);
  expect(ofToday).toContain(`Today, ${today}`);
  expect(ofToday).toContain('‹ 2026-02-28');
});
