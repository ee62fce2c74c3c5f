import { buildSessionRequest, type Gateway, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let sessionId: string;
/** Creates a session whose fields all have the maximum length that the API accepts. */
beforeAll(async () => {
  gateway = await startGateway();
  const { headers } = await gateway.createMerchant();
  const url = `https://shop.example/${'x'.repeat(2048 - 'https://shop.example/'.length)}`;
  const payload = buildSessionRequest({
    requestId: '€'.repeat(100),
    merchantOrderId: '"'.repeat(100),
    notificationUrl: url,
    returnUrl: url,
    cancelUrl: url,
    siteName: '\\'.repeat(100),
    locale: 'en-x-12345678-12345678-12345678-123',
    amount: 50_000,
    lineItems: Array.from({ length: 500 }, () => ({ name: '€'.repeat(120), unitPrice: 100 })),
    customFields: Array.from({ length: 20 }, () => ({ key: '€'.repeat(64), value: '€'.repeat(512) })),
  });
  const response = await gateway.call('POST', '/api/v3.1/sessions', { headers, payload });
  expect(response).toMatchObject({ status: 201 });
  sessionId = response.body.sessionId as string;
});
afterAll(() => gateway.stop());

test.each([
  ['merchant_name', `repeat('x', 101)`],
  ['request_id', `repeat('x', 101)`],
  ['fingerprint', `repeat('f', 65)`],
  ['merchant_order_id', `repeat('x', 101)`],
  ['notification_url', `repeat('x', 2049)`],
  ['return_url', `repeat('x', 2049)`],
  ['cancel_url', `repeat('x', 2049)`],
  ['origin', `repeat('x', 2049)`],
  ['site_name', `repeat('x', 101)`],
  ['custom_fields', `to_jsonb(array_fill(1::numeric, ARRAY[10000]))`],
  ['basket', `to_jsonb(array_fill(1::numeric, ARRAY[60000]))`],
  ['locale', `repeat('x', 36)`],
  ['payable_version', `0`],
  ['payment_count', `-1`],
  ['payment_count', `101`],
])('the database rejects a session whose %s is beyond its limit, such as %s', async (column, value) => {
  const update = gateway.dataSource.query(`UPDATE sessions SET ${column} = ${value} WHERE session_id = $1`, [
    sessionId,
  ]);
  await expect(update).rejects.toMatchObject({ code: '23514', constraint: `sessions_${column}` });
});

test('the migrations validated every constraint for existing rows too', async () => {
  const query = `SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND NOT convalidated`;
  expect(await gateway.dataSource.query(query)).toEqual([]);
});
