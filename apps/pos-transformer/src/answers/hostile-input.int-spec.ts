/**
 * Sends malformed and hostile input to every endpoint (T1). No response may be a 5xx, and a refused request must not
 * change the database (T2).
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { LINE, OTHER_SITE, PRODUCT, SITE, TestTransformer } from '../../test/test-transformer.js';
import { Store } from '../store/store.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const RUNS_PER_ENDPOINT = 100;
const TABLES = ['baskets', 'lines', 'totals', 'payments', 'refunds', 'outgoing_calls', 'alerts'];
const readDatabase = (): string => {
  const store = pos.transformer.app.get(Store);
  return JSON.stringify(TABLES.map((table) => store.list(`SELECT * FROM ${table}`)));
};

interface HostileRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-0',
    '1e3',
    '17',
    '1.5',
    '9'.repeat(101),
    'x'.repeat(600),
    '\u0000',
    '\ud800',
    '\u202e',
    '../..',
  ),
  fc.constantFrom("'; DROP TABLE baskets; --", '__proto__', 'constructor', '${7*7}', '<script>', 'null', '\r\nx-a: b'),
);
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, -1, 0, 0.1, 1e21, 1e308, -1e308, Number.MAX_SAFE_INTEGER + 1, [], {}, [[]], [null], [{}]),
);

/** A valid body of which some fields are missing, replaced or unknown. */
function damagedBody(valid: object): fc.Arbitrary<object> {
  const field = fc.constantFrom(...Object.keys(valid), 'extra', '__proto__', 'toString');
  const changes = fc.array(fc.tuple(field, fc.option(hostileValue, { nil: undefined })), { maxLength: 2 });
  return changes.map((list) => {
    const entries = [...Object.entries(valid), ...list];
    // Object.fromEntries instead of assignment, so that `__proto__` becomes an ordinary member.
    return Object.fromEntries(entries);
  });
}

const bodyText = (body: fc.Arbitrary<object>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: body.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.oneof(fc.string(), fc.json()) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('', '{', 'null', '[]', '"text"', '{"amount": 1e999}', '\ufeff{}', 'NaN', "{'a': 1}")
        .chain((each) =>
          fc.constantFrom(each, `${'['.repeat(5_000)}${']'.repeat(5_000)}`, `{"a": ${'{"a":'.repeat(40)}`),
        ),
    },
  );

const segment = hostileText.map((each) => encodeURIComponent(each.toWellFormed()));
const rawSegment = fc.constantFrom('%', '%00', '%ff', '%2e%2e', '..%2f..', `${SITE}%20`, `0${SITE}`, 'a'.repeat(5_000));
const site = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(String(SITE), String(OTHER_SITE)) },
  { weight: 1, arbitrary: segment },
  { weight: 1, arbitrary: rawSegment },
);
const reference = fc.oneof(fc.constantFrom('17', '0017', '404'), segment, rawSegment);
const headers = fc.record(
  {
    'x-till': fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('TILL-1', 'TILL-2') },
      { weight: 1, arbitrary: hostileText },
    ),
    'content-type': fc.oneof(
      { weight: 8, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('text/plain', 'application/xml', '', 'application/json; charset=utf-16'),
      },
    ),
  },
  { requiredKeys: [] },
);

const ORDER = {
  MerchantOrderId: '17',
  TotalToPay: 4_475,
  Products: [PRODUCT],
  BasketDiscounts: [{ DiscountReason: 'a', DiscountName: 'b', DiscountCode: 'c', DiscountValue: 0 }],
  Tenders: [{ TenderReference: 'a', TenderType: 'Coupon', TenderExtraInfo: 'b', TenderValue: 0 }],
};
const damagedItems = (valid: object): fc.Arbitrary<object[]> => fc.array(damagedBody(valid), { maxLength: 3 });
const orderBody = fc
  .record({
    Products: damagedItems(PRODUCT),
    BasketDiscounts: damagedItems(ORDER.BasketDiscounts[0]!),
    Tenders: damagedItems(ORDER.Tenders[0]!),
  })
  .chain((lists) => damagedBody({ ...ORDER, ...lists }));

const invoiceRequest = (name: string, body: fc.Arbitrary<string | undefined>): fc.Arbitrary<HostileRequest> =>
  fc.record({
    method: fc.constant('POST' as const),
    url: site.map((id) => `/v1/sites/${id}/invoice/${name}`),
    body,
    headers,
  });
const facadeRequest = (path: string, body: fc.Arbitrary<object>): fc.Arbitrary<HostileRequest> =>
  fc.record({ method: fc.constant('POST' as const), url: fc.constant(path), body: bodyText(body), headers });
const getRequest = (url: fc.Arbitrary<string>): fc.Arbitrary<HostileRequest> =>
  fc.record({ method: fc.constant('GET' as const), url, body: fc.constant(undefined), headers: fc.constant({}) });

/**
 * Endpoint, generated requests, and the statuses that must occur: they prove that valid and invalid requests were
 * generated.
 */
const ENDPOINTS: [string, fc.Arbitrary<HostileRequest>, number[]][] = [
  ['line', invoiceRequest('line', bodyText(damagedBody(LINE))), [200, 400, 404]],
  ['total', invoiceRequest('total', bodyText(damagedBody({ amount: 100, reference: '17' }))), [200, 400, 404]],
  ['reset', invoiceRequest('reset', fc.option(bodyText(damagedBody({})), { nil: undefined })), [200, 400, 404]],
  ['invoice payment', getRequest(reference.map((id) => `/v1/invoice/${id}/payment`)), [200, 400, 404]],
  ['Basket', facadeRequest('/Basket', orderBody), [200, 400]],
  [
    'BasketClosed',
    facadeRequest('/BasketClosed', damagedBody({ MerchantOrderId: '17', OrderStatus: 'Saved' })),
    [200, 400],
  ],
  ['GetPayment', getRequest(reference.map((id) => `/GetPayment?MerchantOrderId=${id}`)), [200, 400, 404]],
  [
    'SvcRefund',
    facadeRequest('/SvcRefund', damagedBody({ SvcId: '1VQ5K3P0ABCDEFGHJ0', RefundAmount: 1, RefundReference: 'R' })),
    [200, 400],
  ],
];

it.each(ENDPOINTS)(
  'T1, T2: %s responds to every request, and a refused request changes nothing',
  async (_, requests, expectedStatuses) => {
    await pos.sendLine({}, 'TILL-2');
    await pos.sendBasket('17', 100);
    await pos.pay();
    const { SvcId } = (await pos.getPayment('17')).body as { SvcId: string };
    const receivedStatuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, url, body, headers: requestHeaders }) => {
        const before = readDatabase();
        const reply = await pos.call(method, url, body, requestHeaders);
        receivedStatuses.add(reply.status);
        expect([200, 400, 404, 413, 414, 415]).toContain(reply.status);
        const isRefused = reply.status !== 200 || reply.body.Result === 'STOP';
        expect([reply.status, reply.body, readDatabase()]).toEqual([
          reply.status,
          reply.body,
          isRefused ? before : readDatabase(),
        ]);
      }),
      { numRuns: RUNS_PER_ENDPOINT },
    );
    expect([...receivedStatuses]).toEqual(expect.arrayContaining(expectedStatuses));
    expect((await pos.call('GET', '/health/ready')).status).toBe(200);
    await pos.restart();
    const store = pos.transformer.app.get(Store);
    expect(store.find('SELECT count(*) AS n FROM payments WHERE svc_id = :SvcId', { SvcId })).toEqual({ n: 1 });
  },
);

it.each([
  ['bytes that are not HTTP', Buffer.from([0x16, 0x03, 0x01, 0, 0xff, 0xff])],
  ['a header that does not end', Buffer.from(`GET /GetPayment HTTP/1.1\r\nx-till: ${'x'.repeat(70_000)}`)],
  [
    'a request with two content-length headers',
    Buffer.from('POST /Basket HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 9\r\n\r\n{}'),
  ],
  [
    'a body that is shorter than its content-length',
    Buffer.from('POST /Basket HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{}'),
  ],
])('T1: a connection that sends %s does not affect other clients', async (_, bytes) => {
  await pos.transformer.app.listen(0, '127.0.0.1');
  const url = await pos.transformer.app.getUrl();
  const before = readDatabase();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.end(bytes);
  socket.resume();
  // `once` of node:events is not used for this event, because it would reject when the server resets the connection.
  await new Promise((resolve) => socket.once('close', resolve));
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect(readDatabase()).toBe(before);
});
