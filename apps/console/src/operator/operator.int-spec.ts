import { ReadPersonSessionV1 } from '@svc/contracts';
import { createMerchant, startConsole, type TestConsole } from '../../test/console.js';

let app: TestConsole;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

test('the start page of an operator without a merchant is that of operators', async () => {
  const browser = app.signIn([], { operatorRole: 'viewer' });
  const { status, headers } = await browser.get('/');
  expect([status, headers['location']]).toEqual([303, '/operator']);
  expect((await browser.get('/operator')).text).toContain('Operation of the platform You are viewer.');
});

test('an operator who also has a merchant chooses, and finds the pages of operators in the header', async () => {
  const merchant = await createMerchant(app);
  const browser = app.signIn([merchant.grant('owner')], { operatorRole: 'operator' });
  const { status, html, text } = await browser.get('/');
  expect(status).toBe(200);
  expect(text).toContain('Karoo Books');
  expect(html).toContain('href="/operator"');
});

test('other people see no link to the pages of operators', async () => {
  const merchant = await createMerchant(app);
  const browser = app.signIn([merchant.grant('owner')]);
  expect((await browser.get(`/${merchant.merchantId}/test`)).html).not.toContain('href="/operator"');
  expect((await app.signIn([]).get('/')).html).not.toContain('href="/operator"');
});

test('a page is an activity of its person, a stream of changes is none', async () => {
  const merchant = await createMerchant(app);
  const browser = app.signIn([merchant.grant('owner')], { operatorRole: 'operator' });
  const activities: boolean[] = [];
  await app.respondTo(ReadPersonSessionV1, ({ isActivity }) => {
    activities.push(isActivity);
    return { ok: true, reply: { session: browser.person } };
  });
  // Refused before the stream opens, so that the test need not close it.
  await browser.get(`/${merchant.merchantId}/none/payments/live`, { accept: 'text/event-stream' });
  await browser.get('/operator', { accept: 'text/html' });
  expect(activities).toEqual([false, true]);
});
