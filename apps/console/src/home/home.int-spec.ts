import { createMerchant, newPayment, startConsole, store, type TestConsole } from '../../test/console.js';

let app: TestConsole;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

test('the start page is the one of live payments after the first of them, and each page names the merchant with a link to its mode', async () => {
  const merchant = await createMerchant(app);
  const owner = app.signIn([merchant.grant('owner')]);
  const findStart = async () => (await owner.get('/')).headers['location'];
  await store(app, newPayment(merchant, new Date('2026-03-01T09:00:00Z'), { mode: 'test' }));
  expect(await findStart()).toBe(`/${merchant.merchantId}/test`);
  const ofOther = await createMerchant(app);
  await store(app, newPayment(ofOther, new Date('2026-03-01T09:00:00Z'), { mode: 'live' }));
  expect(await findStart()).toBe(`/${merchant.merchantId}/test`);
  await store(app, newPayment(merchant, new Date('2026-03-01T09:00:00Z'), { mode: 'live' }));
  expect(await findStart()).toBe(`/${merchant.merchantId}/live`);
  const { html } = await owner.get(`/${merchant.merchantId}/live`);
  expect(html).toContain(`<a class="brand" href="/${merchant.merchantId}/live">`);
});
