import { MerchantClient } from '../index.js';

const item = (count: number, amount: number) => ({ count, amount });
const statement = {
  ...{ day: '2026-11-20', mode: 'live', closed: true, ledgerRoot: 'ab12' },
  totals: [
    {
      currencyISOCode: 'ZAR',
      ...{ payments: item(2, 1000), vouchers: item(0, 0), externalPayments: item(0, 0), refunds: item(1, 1400) },
      ...{ fees: item(2, 25), net: -425 },
    },
  ],
};

function clientOf(...answers: readonly [status: number, body: unknown][]) {
  const sent: string[] = [];
  const left = [...answers];
  const client = new MerchantClient({
    apiUrl: 'https://api.example/edge/',
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: () => Promise.resolve(),
    fetch: (url, { method = '' } = {}) => {
      sent.push(`${method} ${new Request(url).url}`);
      const [status, body] = left.shift()!;
      return Promise.resolve(Response.json(body, { status }));
    },
  });
  return { client, sent };
}

test('a statement is returned unchanged, after a failed attempt', async () => {
  const { client, sent } = clientOf([503, {}], [200, { ...statement, merchantId: 1001 }]);
  expect(await client.settlement('2026-11-20')).toEqual(statement);
  const url = 'GET https://api.example/edge/business/api/v1/merchants/1001/settlements/2026-11-20';
  expect(sent).toEqual([url, url]);
});

test('the statement of a day that is still open has no root', async () => {
  const { ledgerRoot: _, ...open } = { ...statement, closed: false };
  expect(await clientOf([200, open]).client.settlement('2026-11-20')).toEqual(open);
});

test('an invalid date stays one segment of the path, and causes the error of the service', async () => {
  const errors = [{ errorReference: '40', message: 'day must be a date in UTC', field: 'day' }];
  const { client, sent } = clientOf([400, { errors }]);
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
  ['amount', { ...statement, totals: [{ ...totals, refunds: item(1, -1) }] }],
])('a malformed %s is an error, not a statement', async (field, body) => {
  await expect(clientOf([200, body]).client.settlement('2026-11-20')).rejects.toThrow(new RegExp(field));
});
