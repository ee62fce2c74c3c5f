import {
  ExportSettlementV1,
  ListSettlementMovementsV1,
  ReadSettlementV1,
  type SettlementAccount,
  type SettlementMovement,
  type SettlementPageRequest,
  type SettlementPeriod,
  type SettlementTotals,
} from '@svc/contracts';
import { createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../test/console.js';

let app: TestConsole;
let merchant: TestMerchant;
/** The requests that payment-processor got. */
let requests: SettlementPageRequest[] = [];
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  requests = [];
});

const path = (rest = '', mode = 'test'): string => `/${merchant.merchantId}/${mode}/settlements${rest}`;
const item = (count: number, amount: number) => ({ count, amount });
const NONE = item(0, 0);
const zar = (amount: number) => [{ currencyISOCode: 'ZAR', amount }];
const TOTALS: SettlementTotals = {
  currencyISOCode: 'ZAR',
  ...{ payments: item(3, 100_000), reversals: NONE, vouchers: item(1, 500), externalPayments: NONE },
  ...{ refunds: item(1, 20_000), refundReturns: NONE, fees: item(3, 3_447), feeReversals: NONE },
  ...{ disputes: item(1, 30_000), disputeReversals: NONE, net: 47_053 },
};
const EMPTY: Omit<SettlementAccount, 'statement'> = { opening: [], closing: [], onTheWay: [], days: [] };

/** payment-processor answers with this account, for the period of the request. */
async function answer(account: Partial<SettlementAccount> = {}, status: 'final' | 'provisional' = 'provisional') {
  await app.respondTo(ReadSettlementV1, (request: SettlementPeriod) => {
    requests.push(request);
    const { merchantId, mode, siteId, period } = request;
    const statement: SettlementAccount['statement'] = {
      ...{ merchantId, mode, from: `${period.slice(0, 7)}-01`, to: `${period.slice(0, 7)}-28`, status },
      ...(siteId === undefined ? {} : { siteId }),
      ...(status === 'final' ? { seal: { number: 77, hash: 'ab'.repeat(32) } } : {}),
      ...{ timeZone: 'Africa/Johannesburg', totals: [] },
      ...{ fromUTCDate: '2026-01-31T22:00:00.000Z', untilUTCDate: '2026-02-28T22:00:00.000Z' },
    };
    return { ok: true, reply: { ...EMPTY, ...account, statement: { ...statement, ...account.statement } } };
  });
}

test('a month has its balance from the beginning to the end, each kind of movement, a chart, and its days', async () => {
  await answer(
    {
      statement: { totals: [TOTALS] } as SettlementAccount['statement'],
      ...{ opening: zar(1_234_567), closing: zar(1_281_620), onTheWay: zar(50_000) },
      days: [
        { day: '2026-02-01', status: 'final', totals: [TOTALS] },
        { day: '2026-02-02', status: 'provisional', totals: [] },
      ],
    },
    'final',
  );
  const { status, html, text } = await app.signIn([merchant.grant('finance')]).get(path('?month=2026-02'));
  expect(status).toBe(200);
  for (const shown of [
    'Settlements, February 2026',
    'Owed to you at the beginning R 12 345.67 Sales R 1 005.00 Refunds −R 200.00 Disputes −R 300.00 Fees −R 34.47 Owed to you at the end R 12 816.20',
    'Of this period, on the way Card money of the last 14 days that the acquirer has not settled yet R 500.00',
    'Kind Number Amount Card payments 3 R 1 000.00 Vouchers 1 R 5.00 Refunds 1 −R 200.00 Disputed amounts deducted 1 −R 300.00 Fees 3 −R 34.47 Change R 470.53',
    'Day Sales Refunds Disputes Fees Change Status 2026-02-01 R 1 005.00 −R 200.00 −R 300.00 −R 34.47 R 470.53 Final Month R 1 005.00',
    `Final: these numbers never change. Sealed in the ledger with seal 77: ${'ab'.repeat(32)} Days of Africa/Johannesburg`,
    '← January 2026 March 2026 →',
  ])
    expect(text).toContain(shown);
  expect(html).toContain('aria-label="Sales by day"');
  expect(html).toContain('<title>2026-02-01: R\u00a01\u00a0005.00</title>');
  expect(html).toContain(`href="${path('/2026-02-01')}"`);
  expect(html).toContain(`href="${path('.csv?period=2026-02')}"`);
  expect(requests).toEqual([{ merchantId: merchant.merchantId, mode: 'test', period: '2026-02' }]);
});

test('without a month, or with one that has not begun, the present month of the merchant is shown', async () => {
  await answer();
  const browser = app.signIn([merchant.grant('owner')]);
  for (const query of ['', '?month=2026-04', '?month=x', '?month=2026-02&month=2026-01']) {
    const { text } = await browser.get(path(query));
    expect(text).toContain('Settlements, March 2026');
    expect(text).toContain('No movements in this month.');
    expect(text).toContain('Provisional: these numbers can still change.');
    expect(text).toContain('← February 2026');
    expect(text).not.toContain('April 2026');
  }
  // It is still February there.
  merchant = await createMerchant(app, 'Pacific/Niue');
  await app.signIn([merchant.grant('owner')]).get(path());
  expect(requests.map(({ period }) => period)).toEqual(['2026-03', '2026-03', '2026-03', '2026-03', '2026-02']);
});

test('a day has its movements with links to the payments, and each page continues the one before', async () => {
  await answer({ opening: zar(5), closing: zar(47_058) });
  const movement: SettlementMovement = {
    ...{ createdUTCDate: '2026-02-09T22:00:05.000Z', type: 'refund', svcId: '1VQ5K3P0ABCDEFGHJK' },
    ...{ refundReference: '019ca8d7-25ab-777e-8b20-51e25d3ed4e3', disputeReference: '', siteId: merchant.sites[1] },
    ...{ externalReference: '<b>order</b>', currencyISOCode: 'ZAR', amount: -20_000 },
  };
  await app.respondTo(ListSettlementMovementsV1, (request) => {
    requests.push(request);
    const page = request.after === undefined ? { next: '9_1_2' } : {};
    return { ok: true, reply: { movements: [movement, { ...movement, type: 'fee', externalReference: '' }], ...page } };
  });
  const browser = app.signIn([merchant.grant('finance')]);
  const { html, text } = await browser.get(path('/2026-02-10'));
  expect(text).toContain(
    'Time Kind Order Site Amount 00:00:05 Refund &lt;b>order&lt;/b> Shop 2 −R 200.00 00:00:05 Fee 1VQ5K3P0ABCDEFGHJK Shop 2 −R 200.00 More movements',
  );
  expect(html).toContain(`href="/${merchant.merchantId}/test/payments/1VQ5K3P0ABCDEFGHJK"`);
  expect(text).toContain('Owed to you at the beginning R 0.05');
  const next = /href="([^"]+)">More movements</.exec(html)![1]!;
  const second = await browser.get(next);
  expect([second.text.includes('First movements'), second.text.includes('More movements')]).toEqual([true, false]);
  const day = { merchantId: merchant.merchantId, mode: 'test', period: '2026-02-10' };
  expect(requests).toHaveLength(4);
  expect(requests).toEqual(expect.arrayContaining([day, { ...day, after: '9_1_2' }]));
  for (const unknown of ['2026-03-02', '2026-02-30', '1999-12-31', '2026-02', 'x'])
    expect((await browser.get(path(`/${unknown}`))).status).toBe(404);
});

test('the file is read in parts, and has the name that payment-processor gives', async () => {
  await app.respondTo(ExportSettlementV1, (request) => {
    requests.push(request);
    const part = request.after === undefined ? { lines: 'header\r\nfirst\r\n', next: 'c1' } : { lines: 'second\r\n' };
    return { ok: true, reply: { fileName: 'settlement-1-test-2026-02.csv', ...part } };
  });
  const browser = app.signIn([merchant.grant('finance', merchant.sites[0])]);
  const { status, headers, html } = await browser.get(path('.csv?period=2026-02'));
  expect([status, html]).toEqual([200, '\uFEFFheader\r\nfirst\r\nsecond\r\n']);
  expect(headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="settlement-1-test-2026-02.csv"',
    'cache-control': 'no-store',
  });
  const request = { merchantId: merchant.merchantId, mode: 'test', siteId: merchant.sites[0], period: '2026-02' };
  expect(requests).toEqual([request, { ...request, after: 'c1' }]);
  for (const query of ['', '?period=2026-04', '?period=2026-03-02', `?period=2026-02&site=${merchant.sites[1]}`])
    expect((await browser.get(path(`.csv${query}`))).status).toBe(404);
});

test('a person sees only the sites of the role; other sites and merchants do not exist; test and live are separate', async () => {
  await answer();
  const [first, second] = merchant.sites;
  const other = await createMerchant(app);
  const sitesOf = async (browser: ReturnType<TestConsole['signIn']>, ...paths: string[]) => {
    requests = [];
    for (const each of paths) expect((await browser.get(each)).status).toBe(200);
    return requests.map(({ siteId, mode }) => [siteId, mode]);
  };
  const owner = app.signIn([merchant.grant('owner')]);
  expect(await sitesOf(owner, path(), path(`?site=${second}`), path('?site='), path('', 'live'))).toEqual([
    [undefined, 'test'],
    [second, 'test'],
    [undefined, 'test'],
    [undefined, 'live'],
  ]);
  const both = app.signIn([merchant.grant('finance', second), merchant.grant('finance', first)]);
  expect(await sitesOf(both, path(), path(`?site=${second}`))).toEqual([
    [first, 'test'],
    [second, 'test'],
  ]);
  const one = app.signIn([merchant.grant('finance', second), merchant.grant('support', first), other.grant('owner')]);
  expect(await sitesOf(one, path())).toEqual([[second, 'test']]);
  expect((await one.get(path())).text).not.toContain('Shop 1');
  for (const site of [first, other.sites[0], 'x'])
    for (const page of [`?site=${site}`, `/2026-02-10?site=${site}`, `.csv?period=2026-02&site=${site}`])
      expect((await one.get(path(page))).status).toBe(404);
  expect((await app.signIn([other.grant('owner')]).get(path())).status).toBe(404);
  for (const role of ['support', 'developer'] as const) {
    const browser = app.signIn([merchant.grant(role)]);
    for (const page of ['', '/2026-02-10', '.csv?period=2026-02'])
      expect((await browser.get(path(page))).status).toBe(403);
  }
});

test('while payment-processor cannot answer, the page says that a repeat helps', async () => {
  await app.respondTo(ReadSettlementV1, () => ({
    ...{ ok: false, code: 'service.not-ready', message: 'Not ready', fields: [], retryAfterSeconds: 1 },
  }));
  const { status, text } = await app.signIn([merchant.grant('owner')]).get(path());
  expect([status, text.includes('Please try again')]).toEqual([503, true]);
});

test('the menu shows each role its own sections', async () => {
  const menu = async (role: 'owner' | 'support' | 'developer') => {
    const { html } = await app.signIn([merchant.grant(role)]).get(`/${merchant.merchantId}/test`);
    return ['settlements', 'disputes'].filter((section) =>
      html.includes(`href="${path().replace('settlements', section)}"`),
    );
  };
  expect(await menu('owner')).toEqual(['settlements', 'disputes']);
  expect(await menu('support')).toEqual(['disputes']);
  expect(await menu('developer')).toEqual([]);
});
