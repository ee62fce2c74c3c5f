import { MerchantClient } from '../index.js';

const createItem = (count: number, amount: number) => ({ count, amount });
const statement = {
  ...{ from: '2026-11-01', to: '2026-11-20', timeZone: 'Africa/Johannesburg', mode: 'live' },
  ...{ fromUTCDate: '2026-10-31T22:00:00.000Z', untilUTCDate: '2026-11-20T22:00:00.000Z' },
  ...{ status: 'final', seal: { number: 7, hash: 'ab12' } },
  totals: [
    {
      currencyISOCode: 'ZAR',
      ...{
        payments: createItem(2, 1000),
        reversals: createItem(1, 100),
        vouchers: createItem(0, 0),
        externalPayments: createItem(0, 0),
        refunds: createItem(1, 1400),
        refundReturns: createItem(1, 50),
        feeReversals: createItem(1, 10),
      },
      ...{ fees: createItem(2, 25), disputes: createItem(1, 300), disputeReversals: createItem(1, 200), net: -525 },
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
  expect(await client.settlement('2026-11-01', '2026-11-20')).toEqual(statement);
  const url = 'GET https://api.example/edge/business/api/v1/merchants/1001/settlements?from=2026-11-01&to=2026-11-20';
  expect(sent).toEqual([url, url]);
});

test('settlement() returns a statement without a seal while it is provisional', async () => {
  const { seal: _, ...open } = { ...statement, status: 'provisional' };
  expect(await createClient([200, open]).client.settlement('2026-11-20')).toEqual(open);
});

test('settlement() returns the statement of test mode and of live mode', async () => {
  for (const mode of ['test', 'live'])
    expect(await createClient([200, { ...statement, mode }]).client.settlement('2026-11-20')).toMatchObject({ mode });
});

test('settlement() requests one day if it gets one date, encodes an invalid date, and throws the error of the API', async () => {
  const errors = [{ errorReference: '40', message: 'from must be a date', field: 'from' }];
  const { client, sent } = createClient([400, { errors }]);
  await expect(client.settlement('../refunds')).rejects.toMatchObject({ httpStatus: 400, retryable: false });
  expect(sent[0]).toMatch(/\/settlements\?from=..%2Frefunds&to=..%2Frefunds$/);
});

const [totals] = statement.totals;
test.each<[string, unknown]>([
  ['mode', { ...statement, mode: 'real' }],
  ['status', { ...statement, status: 'closed' }],
  ['seal', { ...statement, seal: 7 }],
  ['number', { ...statement, seal: { number: -1, hash: 'ab' } }],
  ['hash', { ...statement, seal: { number: 1 } }],
  ['totals', { ...statement, totals: {} }],
  ['net', { ...statement, totals: [{ ...totals, net: 0.5 }] }],
  ['fees', { ...statement, totals: [{ ...totals, fees: 25 }] }],
  ['amount', { ...statement, totals: [{ ...totals, refunds: createItem(1, -1) }] }],
  ['count', { ...statement, totals: [{ ...totals, refunds: createItem(0.5, 1) }] }],
  ['totals', { ...statement, totals: [7] }],
  ['payments', { ...statement, totals: [{ ...totals, payments: 1 }] }],
  ['from', { ...statement, from: 20_261_120 }],
  ['to', { ...statement, to: undefined }],
  ['timeZone', { ...statement, timeZone: 2 }],
  ['fromUTCDate', { ...statement, fromUTCDate: null }],
  ['untilUTCDate', { ...statement, untilUTCDate: null }],
  ['currencyISOCode', { ...statement, totals: [{ ...totals, currencyISOCode: undefined }] }],
])('settlement() refuses a statement with a malformed %s: %j', async (field, body) => {
  await expect(createClient([200, body]).client.settlement('2026-11-20')).rejects.toThrow(
    new RegExp(`: ${field} is missing or malformed$`),
  );
});
