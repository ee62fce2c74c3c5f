import { MerchantClient } from '../index.js';

const createItem = (count: number, amount: number) => ({ count, amount });
const statement = {
  ...{ day: '2026-11-20', mode: 'live', closed: true, ledgerRoot: 'ab12' },
  totals: [
    {
      currencyISOCode: 'ZAR',
      ...{
        payments: createItem(2, 1000),
        vouchers: createItem(0, 0),
        externalPayments: createItem(0, 0),
        refunds: createItem(1, 1400),
      },
      ...{ fees: createItem(2, 25), net: -425 },
    },
  ],
};

function createClient(...responses: readonly [status: number, body: unknown][]) {
  const sent: string[] = [];
  const remainingResponses = [...responses];
  const client = new MerchantClient({
    apiUrl: 'https://api.example/edge/',
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: () => Promise.resolve(),
    fetch: (url, { method = '' } = {}) => {
      sent.push(`${method} ${new Request(url).url}`);
      const [status, body] = remainingResponses.shift()!;
      return Promise.resolve(Response.json(body, { status }));
    },
  });
  return { client, sent };
}

test('settlement() returns the fields of the statement, after a temporary failure', async () => {
  const { client, sent } = createClient([503, {}], [200, { ...statement, merchantId: 1001 }]);
  expect(await client.settlement('2026-11-20')).toEqual(statement);
  const url = 'GET https://api.example/edge/business/api/v1/merchants/1001/settlements/2026-11-20';
  expect(sent).toEqual([url, url]);
});

test('settlement() returns a statement without ledgerRoot for a day that is still open', async () => {
  const { ledgerRoot: _, ...open } = { ...statement, closed: false };
  expect(await createClient([200, open]).client.settlement('2026-11-20')).toEqual(open);
});

test('settlement() returns the statement of test mode and of live mode', async () => {
  for (const mode of ['test', 'live'])
    expect(await createClient([200, { ...statement, mode }]).client.settlement('2026-11-20')).toMatchObject({ mode });
});

test('settlement() encodes an invalid date as one segment of the path, and throws the error of the API', async () => {
  const errors = [{ errorReference: '40', message: 'day must be a date in UTC', field: 'day' }];
  const { client, sent } = createClient([400, { errors }]);
  await expect(client.settlement('../refunds')).rejects.toMatchObject({ httpStatus: 400, retryable: false });
  expect(sent[0]).toMatch(/\/settlements\/..%2Frefunds$/);
});

const [totals] = statement.totals;
test.each<[string, unknown]>([
  ['mode', { ...statement, mode: 'real' }],
  ['closed', { ...statement, closed: 'yes' }],
  ['totals', { ...statement, totals: {} }],
  ['net', { ...statement, totals: [{ ...totals, net: 0.5 }] }],
  ['fees', { ...statement, totals: [{ ...totals, fees: 25 }] }],
  ['amount', { ...statement, totals: [{ ...totals, refunds: createItem(1, -1) }] }],
  ['count', { ...statement, totals: [{ ...totals, refunds: createItem(0.5, 1) }] }],
  ['totals', { ...statement, totals: [7] }],
  ['payments', { ...statement, totals: [{ ...totals, payments: 1 }] }],
  ['day', { ...statement, day: 20_261_120 }],
  ['ledgerRoot', { ...statement, ledgerRoot: 7 }],
  ['currencyISOCode', { ...statement, totals: [{ ...totals, currencyISOCode: undefined }] }],
])('settlement() refuses a statement with a malformed %s: %j', async (field, body) => {
  await expect(createClient([200, body]).client.settlement('2026-11-20')).rejects.toThrow(
    new RegExp(`: ${field} is missing or malformed$`),
  );
});
