/** How the fields of a request for a session are read: a key that is sent twice, null, and control characters. */
import { buildSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const create = (payload: unknown, headers: Record<string, string> = merchant.headers) =>
  gateway.call('POST', '/api/v3.1/sessions', { headers, payload });

test('a request that has a key twice is rejected with 400 and an error that names the key', async () => {
  const json = { ...merchant.headers, 'content-type': 'application/json' };
  const text = JSON.stringify(buildSessionRequest()).replace('"amount":', '"amount":1,"amount":');
  const { status, body } = await create(text, json);
  expect([status, body.errors]).toEqual([400, [{ message: 'amount must not be sent twice' }]]);
});

test('an optional field that is null is a missing field', async () => {
  const request = buildSessionRequest({ siteName: null, customFields: null, locale: null });
  const { status, body } = await create(request);
  expect(status).toBe(201);
  expect((await create({ ...request, siteName: undefined })).body.sessionId).toBe(body.sessionId);
});

test('control characters in texts that are only shown become spaces, and the session is created', async () => {
  const labels = { siteName: 'Karoo\tBooks', customFields: [{ key: 'To\u0000', value: 'Long Street 1\r\nCape Town' }] };
  const shown = { siteName: 'Karoo Books', customFields: [{ key: 'To ', value: 'Long Street 1  Cape Town' }] };
  const request = buildSessionRequest(labels);
  const first = await create(request);
  expect(first.status).toBe(201);
  // The stored texts have spaces, so this request is a repeat.
  expect((await create({ ...request, ...shown })).body.sessionId).toBe(first.body.sessionId);
});
