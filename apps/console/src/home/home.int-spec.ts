import { planOf } from '@svc/testing';
import { createMerchant, newPayment, startConsole, store, type TestConsole } from '../../test/console.js';
import { MerchantRepository } from '../merchants/merchant.repository.js';

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

test('a person of several merchants chooses one, and finds the choice again in the header', async () => {
  const [merchant, other] = [await createMerchant(app), await createMerchant(app)];
  const link = '<a href="/">Choose a merchant</a>';
  const ofBoth = app.signIn([merchant.grant('owner'), other.grant('support')]);
  expect((await ofBoth.get(`/${other.merchantId}/live`)).html).toContain(link);
  const ofSites = app.signIn(merchant.sites.map((siteId) => merchant.grant('support', siteId)));
  expect((await ofSites.get(`/${merchant.merchantId}/live`)).html).not.toContain(link);
});

test('live payments are looked up in an index, also with a plan for an empty table', async () => {
  const merchants = app.service.app.get(MerchantRepository);
  const plan = await planOf(app.dataSource, () => merchants.hasLivePayments(1));
  expect(plan).toMatch(/using payments_newest .*\n\s+Index Cond: .*merchant_id = .*mode = /);
  expect(plan).not.toMatch(/Sort|Seq Scan on payments/);
});
