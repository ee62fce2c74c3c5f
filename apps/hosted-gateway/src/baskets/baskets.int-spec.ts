/** The basket of a session (H9): stored with the session, shown on its page, and never a reason to refuse a request. */
import { buildSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const create = (payload: unknown, version = 'v3.1') =>
  gateway.call('POST', `/api/${version}/sessions`, { headers: merchant.headers, payload });
const findBasket = async (sessionId: unknown): Promise<unknown> => {
  const [row] = await gateway.dataSource.query<{ basket: unknown }[]>(
    `SELECT basket FROM sessions WHERE session_id = $1`,
    [sessionId],
  );
  return row?.basket;
};
const MUGS = { name: 'Enamel Mug', sku: 'MUG', unitPrice: '5000', quantity: 2, categories: ['Kitchen'] };
/** The amount of {@link buildSessionRequest} is 12 345 cents. */
const BASKET = { lineItems: [MUGS], shippingAmount: 2_345, taxAmount: 1_610 };

test.each(['v3.1', 'v3'])('a session of %s stores its basket, and its page shows it', async (version) => {
  const { status, body } = await create(buildSessionRequest(BASKET), version);
  expect(status).toBe(201);
  expect(await findBasket(body.sessionId)).toEqual({
    lines: [{ name: 'Enamel Mug', unitPrice: 5_000, quantity: 2 }],
    taxAmount: 1_610,
    shippingAmount: 2_345,
  });
  const { text } = await gateway.call('GET', `/pay?sessionId=${body.sessionId}`);
  for (const shown of ['Enamel Mug', 'R 50.00', 'R 100.00', 'Delivery', 'R 23.45', 'VAT included', 'R 16.10', 'Total'])
    expect(text).toContain(shown);
});

test.each([
  { lineItems: 'Mug' },
  { lineItems: [{ ...MUGS, quantity: 0 }] },
  { ...BASKET, shippingAmount: 2_346 },
  { ...BASKET, taxAmount: {} },
])('the session is created without a basket, with a warning in test mode: %j', async (fields) => {
  const { status, body } = await create(buildSessionRequest(fields));
  expect([status, Object.keys(body as object), await findBasket(body.sessionId)]).toEqual([
    201,
    ['sessionId', 'redirectUrl', 'status', 'errors', 'warnings'],
    null,
  ]);
  expect(body.warnings[0]).toEqual({ field: expect.any(String), message: expect.any(String) });
  expect((await gateway.call('GET', `/pay?sessionId=${body.sessionId}`)).text).not.toContain('class="basket"');
});

test('a repeat with other line items is a repeat, and the session keeps its first basket (C7)', async () => {
  const request = buildSessionRequest(BASKET);
  const first = await create(request);
  for (const repeat of [
    { ...request, lineItems: [{ ...MUGS, name: 'Another name' }] },
    { ...request, lineItems: 'none' },
    { ...request, lineItems: undefined, taxAmount: undefined, shippingAmount: undefined },
  ]) {
    const { status, headers, body } = await create(repeat);
    expect([status, headers['idempotency-replayed'], body.sessionId]).toEqual([201, 'true', first.body.sessionId]);
  }
  expect(await findBasket(first.body.sessionId)).toMatchObject({ lines: [{ name: 'Enamel Mug' }] });
});

test('a session has a row of at most so many bytes, also with 500 lines', async () => {
  const measure = async (fields: object): Promise<[basket: number, row: number]> => {
    const { body } = await create(buildSessionRequest({ amount: 50_000, ...fields }));
    const [row] = await gateway.dataSource.query<{ basket: number | null; row: number }[]>(
      `SELECT pg_column_size(basket) AS basket, pg_column_size(sessions.*) AS row FROM sessions WHERE session_id = $1`,
      [body.sessionId],
    );
    return [row!.basket ?? 0, row!.row];
  };
  const linesOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `Line ${index} of the order`, unitPrice: 50_000 / count }));
  const sizes = [
    await measure({}),
    ...(await Promise.all([1, 10, 500].map((count) => measure({ lineItems: linesOf(count) })))),
  ];
  expect(sizes[0]![0]).toBe(0);
  expect(sizes[2]![0]).toBeLessThan(1_024);
  // PostgreSQL compresses the basket and stores it outside of the row.
  expect(sizes[3]![0]).toBeLessThan(16 * 1_024);
});
