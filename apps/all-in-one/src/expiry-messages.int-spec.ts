/** Error messages when a session or an invoice has expired, and when a live key is used for test data. */
import { randomUUID } from 'node:crypto';
import { encryptForPage } from '../test/bank-and-platform.js';
import { newSessionRequest, TwoMerchants } from '../test/hosted-callers.js';
import { type ApiResponse, type MainApi, startMainApi } from '../test/main-api.js';

const SESSION_LIFETIME_MS = 30 * 60_000;
const INVOICE_LIFETIME_MS = 60 * 60_000;

let api: MainApi;
let merchants: TwoMerchants;
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  merchants = await TwoMerchants.onboard(api);
});
afterAll(() => api?.stop());

const errorMessages = ({ text }: ApiResponse): string[] =>
  (JSON.parse(text) as { errors: { message: string }[] }).errors.map(({ message }) => message);

test('a payment on the page of an expired session is refused with a message to reload the page', async () => {
  const sessionId = await merchants.createSession('site 1');
  const { text: page } = await api.callHosted({ method: 'GET', path: `/pay?sessionId=${sessionId}` });
  const body = { reference: randomUUID(), paymentNumber: 1, encryptedCard: await encryptForPage(page, sessionId, 1) };
  api.clock.advance(SESSION_LIFETIME_MS);
  const response = await api.callHosted({ method: 'POST', path: `/pay/${sessionId}/payments`, body });
  expect(errorMessages(response)).toEqual([
    expect.stringMatching(/^The encrypted card expired 0 s ago\. Reload the page and try again\./),
  ]);
});

test('a repeated request for an expired session returns that session with the state expired', async () => {
  const request = { method: 'POST', path: '/api/v3.1/sessions', body: newSessionRequest() };
  expect((await merchants.callAs('site 1', request)).status).toBe(201);
  api.clock.advance(SESSION_LIFETIME_MS);
  expect(JSON.parse((await merchants.callAs('site 1', request)).text)).toMatchObject({ sessionState: 'expired' });
});

test('a request for an expired invoice gets 410 with a message that it can no longer be paid', async () => {
  const { merchantId, siteId } = merchants.siteIds.get('site 1')!;
  const { reference } = await merchants.createInvoice();
  api.clock.advance(INVOICE_LIFETIME_MS);
  const path = `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices/${reference}`;
  const response = await api.call({ method: 'GET', path, headers: { 'x-api-key': merchants.keys.get('site 1')! } });
  expect([response.status, errorMessages(response)]).toEqual([410, ['This can no longer be paid: it has expired.']]);
  expect(JSON.parse(response.text)).toMatchObject({ code: 'payable.expired', type: '/errors/payable.expired' });
});

test('a live key does not find a test session, and the message mentions the mode', async () => {
  const sessionId = await merchants.createSession('site 1');
  const response = await merchants.callAs('site 1 live', { method: 'GET', path: `/api/v3.1/sessions/${sessionId}` });
  expect(errorMessages(response)).toEqual(['There is no such session of this merchant, site and mode (test or live).']);
});
