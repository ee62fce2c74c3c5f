/** Messages for a caller whose session or invoice has expired, or whose key is of the other mode. */
import { randomUUID } from 'node:crypto';
import { encrypt } from '../test/bank-and-platform.js';
import { aSession, TwoMerchants } from '../test/hosted-callers.js';
import { type Answer, type MainApi, startMainApi } from '../test/main-api.js';

let api: MainApi;
let two: TwoMerchants;
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  two = await TwoMerchants.onboard(api);
});
afterAll(() => api?.stop());

const messagesOf = ({ text }: Answer): string[] =>
  (JSON.parse(text) as { errors: { message: string }[] }).errors.map(({ message }) => message);

test('the message on the page of an expired session', async () => {
  const sessionId = await two.newSession('site 1');
  const { text: page } = await api.callHosted({ method: 'GET', path: `/pay?sessionId=${sessionId}` });
  const body = { reference: randomUUID(), try: 1, encryptedCard: await encrypt(page, sessionId, 1) };
  api.clock.advance(30 * 60_000);
  const answer = await api.callHosted({ method: 'POST', path: `/pay/${sessionId}/payments`, body });
  expect(messagesOf(answer)).toEqual(['The card was encrypted for another page. Reload the page and try again.']);
});

test('the message for the requestId of an expired session', async () => {
  const call = { method: 'POST', path: '/api/v3.1/sessions', body: aSession() };
  expect((await two.as('site 1', call)).status).toBe(201);
  api.clock.advance(30 * 60_000);
  expect(JSON.parse((await two.as('site 1', call)).text)).toMatchObject({ sessionState: 'expired' });
});

test('the message for an expired invoice', async () => {
  const { merchantId, siteId } = two.numbers.get('site 1')!;
  const { reference } = await two.newInvoice();
  api.clock.advance(60 * 60_000);
  const path = `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices/${reference}`;
  const answer = await api.call({ method: 'GET', path, headers: { 'x-api-key': two.keys.get('site 1')! } });
  expect([answer.status, messagesOf(answer)]).toEqual([410, ['This can no longer be paid: it has expired.']]);
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'payable.expired', type: '/errors/payable.expired' });
});

test('the message for a live key on data of a test key', async () => {
  const sessionId = await two.newSession('site 1');
  const answer = await two.as('site 1 live', { method: 'GET', path: `/api/v3.1/sessions/${sessionId}` });
  expect(messagesOf(answer)).toEqual(['There is no such session of this merchant, site and mode (test or live).']);
});
