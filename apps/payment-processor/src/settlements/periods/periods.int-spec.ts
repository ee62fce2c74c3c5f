/** The account of a merchant in a month or on a day: sums, balances, movements and the file, for its people. */
import {
  ExportSettlementV1,
  ListSettlementMovementsV1,
  ReadSettlementV1,
  type SettlementMovement,
  type SettlementPeriod,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { type BookedShop, openBookedShop } from '../../../test/books/booked-shop.js';
import { createRefundClient } from '../../../test/merchant-key.js';
import { createMerchant } from '../../../test/partner.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import { SimulatedMerchant } from '../../../test/simulated-merchant.js';
import { SettlementRepository } from '../settlement.repository.js';

let processor: Processor;
let commands: Commands;
beforeEach(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
  commands = new Commands(processor.broker);
});
afterEach(() => processor.stop());

const advanceTo = (time: string): void => processor.clock.advance(Date.parse(time) - processor.clock.now().getTime());
const zar = (amount: number) => (amount === 0 ? [] : [{ currencyISOCode: 'ZAR', amount }]);
const NONE = { count: 0, amount: 0 };
const NOTHING = {
  currencyISOCode: 'ZAR',
  ...{ payments: NONE, reversals: NONE, vouchers: NONE, externalPayments: NONE, refunds: NONE, refundReturns: NONE },
  ...{ fees: NONE, feeReversals: NONE, disputes: NONE, disputeReversals: NONE },
};
const vouchers = (count: number, amount: number) => [{ ...NOTHING, vouchers: { count, amount }, net: amount }];

test('a month of trade adds up: each day, the month, the opening and the closing balance, which is that of the ledger', async () => {
  advanceTo('2026-03-30T21:59:59.999Z');
  const merchant = await SimulatedMerchant.start(processor);
  await merchant.payOnPage(7_777);
  await merchant.startNextDay();
  await merchant.payExternally(3_333);
  // The month of April begins at 22:00 UTC, a millisecond later.
  advanceTo('2026-03-31T22:00:00Z');
  await merchant.payOnPage(10_000);
  await merchant.payWithVouchers(9_001);
  await merchant.startNextDay();
  await merchant.payWithTip(20_000, 1_500);
  await merchant.refund(1_234);
  await merchant.dispute(5_001);
  processor.clock.advance(600_000);
  await processor.sealLedger();
  const { merchantId } = merchant.merchant;
  const account = await commands.request(ReadSettlementV1, { merchantId, mode: 'test', period: '2026-04' });
  const readDay = (day: string) => merchant.readStatement(day);
  const days = await Promise.all(['2026-04-01', '2026-04-02'].map(readDay));
  const march = await merchant.readStatement('?from=2026-03-01&to=2026-03-31');
  expect(account).toEqual({
    statement: await merchant.readStatement('?from=2026-04-01&to=2026-04-02'),
    opening: zar(march.totals[0]!.net),
    closing: zar(await merchant.readBalance()),
    onTheWay: [],
    days: days.map(({ from, status, totals }) => ({ day: from, status, totals })),
  });
  expect(account.days.map(({ status }) => status)).toEqual(['final', 'provisional']);
  expect(account.days[1]!.totals).toMatchObject([
    {
      payments: { count: 1 },
      refunds: { count: 1, amount: 1_234 },
      disputes: { count: 1, amount: 5_001 },
      fees: { count: 1 },
    },
  ]);
  // A day has the balances at its beginning and end, and is the same statement as the merchant's API has.
  const day = await commands.request(ReadSettlementV1, { merchantId, mode: 'test', period: '2026-04-02' });
  expect(day).toEqual({
    statement: days[1],
    opening: zar(march.totals[0]!.net + days[0]!.totals[0]!.net),
    closing: account.closing,
    onTheWay: [],
    days: [account.days[1]],
  });
});

test.each([
  [
    'America/New_York',
    '2026-03-08T04:59:59.999Z',
    '2026-03-08T05:00:00Z',
    '2026-03-09T03:59:59.999Z',
    '2026-03-09T04:00:00Z',
  ],
  [
    'Africa/Johannesburg',
    '2026-03-07T21:59:59.999Z',
    '2026-03-07T22:00:00Z',
    '2026-03-08T21:59:59.999Z',
    '2026-03-08T22:00:00Z',
  ],
])(
  'in %s each movement is in the sums of its own day, also when the clocks change',
  async (zone, before, first, last, after) => {
    advanceTo('2026-04-15T10:00:00Z');
    const shop = await openBookedShop(processor, { zone });
    await shop.book([
      [before, 1],
      [first, 20],
      [last, 300],
      [after, 4_000],
    ]);
    const { days, opening, closing, statement } = await shop.read('2026-03');
    expect([days.length, days[0]!.day, days.at(-1)!.day]).toEqual([31, '2026-03-01', '2026-03-31']);
    expect(days.filter(({ totals }) => totals.length > 0).map(({ day, totals }) => ({ day, totals }))).toEqual([
      { day: '2026-03-07', totals: vouchers(1, 1) },
      { day: '2026-03-08', totals: vouchers(2, 320) },
      { day: '2026-03-09', totals: vouchers(1, 4_000) },
    ]);
    expect([opening, statement.totals, closing]).toEqual([[], vouchers(4, 4_321), zar(4_321)]);
    expect((await shop.read('2026-03-08')).opening).toEqual(zar(1));
  },
);

test('a month without movements has its days, and the balance of the months before', async () => {
  advanceTo('2026-04-15T10:00:00Z');
  const shop = await openBookedShop(processor);
  const { statement, ...empty } = await shop.read('2026-04');
  const days = Array.from({ length: 15 }, (_, nth) => `2026-04-${String(nth + 1).padStart(2, '0')}`);
  expect(empty).toEqual({
    ...{ opening: [], closing: [], onTheWay: [] },
    days: days.map((day) => ({ day, status: 'provisional', totals: [] })),
  });
  expect([statement.from, statement.to, statement.totals]).toEqual(['2026-04-01', '2026-04-15', []]);
  await shop.book([['2026-01-31T22:00:00Z', 55]]);
  expect(await shop.read('2026-04')).toMatchObject({ opening: zar(55), closing: zar(55), statement: { totals: [] } });
});

test('only the movements of the merchant, the mode and the site count; a site of another merchant is not found', async () => {
  advanceTo('2026-03-15T10:00:00Z');
  const shop = await openBookedShop(processor);
  const other = await openBookedShop(processor);
  const live = await openBookedShop(processor, { mode: 'live' });
  await createMerchant(processor, { merchantId: other.merchantId }, 7001);
  await shop.book([
    ['2026-02-10T10:00:00Z', 1],
    ['2026-03-10T10:00:00Z', 20],
  ]);
  await shop.book(
    [
      ['2026-02-11T10:00:00Z', 300],
      ['2026-03-11T10:00:00Z', 4_000],
    ],
    5002,
  );
  await other.book([['2026-03-10T10:00:00Z', 50_000]]);
  await live.book([['2026-03-10T10:00:00Z', 600_000]]);
  // The site 5001 belongs to the newest merchant of the tests, so these are rows of the first one again.
  await createMerchant(processor, { merchantId: shop.merchantId }, 5001);
  await createMerchant(processor, { merchantId: shop.merchantId }, 5002);
  const sums = async (changes: Partial<SettlementPeriod>) => {
    const { opening, statement, closing } = await shop.read('2026-03', changes);
    return [opening, statement.totals.map(({ net }) => net), closing, statement.siteId];
  };
  expect(await sums({})).toEqual([zar(301), [4_020], zar(4_321), undefined]);
  expect(await sums({ siteId: 5001 })).toEqual([zar(1), [20], zar(21), 5001]);
  expect(await sums({ siteId: 5002 })).toEqual([zar(300), [4_000], zar(4_300), 5002]);
  expect(await sums({ mode: 'live' })).toEqual([[], [], [], undefined]);
  for (const siteId of [7001, 9999]) {
    const request = { merchantId: shop.merchantId, mode: 'test', period: '2026-03', siteId } as const;
    for (const command of [ReadSettlementV1, ListSettlementMovementsV1, ExportSettlementV1])
      await expect(commands.request<object, unknown>(command, request)).rejects.toMatchObject({
        code: 'resource.not-found',
      });
  }
});

test('a period that has not begun, or is none, is refused', async () => {
  const shop = await openBookedShop(processor);
  const request = { merchantId: shop.merchantId, mode: 'test' } as const;
  for (const period of ['2026-04', '2026-03-02', 'today'])
    for (const command of [ReadSettlementV1, ListSettlementMovementsV1, ExportSettlementV1])
      await expect(commands.request<object, unknown>(command, { ...request, period })).rejects.toMatchObject({
        code: 'request.invalid',
      });
  for (const command of [ListSettlementMovementsV1, ExportSettlementV1])
    await expect(
      commands.request<object, unknown>(command, { ...request, period: '2026-03', after: 'x' }),
    ).rejects.toMatchObject({ code: 'request.invalid' });
});

describe('the movements', () => {
  const listAll = async (shop: BookedShop, period: string, siteId?: number): Promise<SettlementMovement[][]> => {
    const pages: SettlementMovement[][] = [];
    let after: string | undefined;
    do {
      const page = await commands.request(ListSettlementMovementsV1, {
        ...{ merchantId: shop.merchantId, mode: 'test', period },
        ...(siteId === undefined ? {} : { siteId }),
        ...(after === undefined ? {} : { after }),
      });
      pages.push(page.movements);
      after = page.next;
    } while (after !== undefined);
    return pages;
  };

  test('come in pages of 100, oldest first, each once, also if many have the same time', async () => {
    advanceTo('2026-03-15T10:00:00Z');
    const shop = await openBookedShop(processor);
    const start = Date.parse('2026-03-09T22:00:00Z');
    const entries = Array.from(
      { length: 200 },
      (_, nth) => [new Date(start + (nth >> 3)).toISOString(), nth + 1] as const,
    );
    await shop.book([
      ['2026-03-09T21:59:59.999Z', 9_000],
      ['2026-03-10T22:00:00Z', 9_001],
    ]);
    await shop.book(entries);
    const pages = await listAll(shop, '2026-03-10');
    expect(pages.map((page) => page.map(({ amount }) => amount))).toEqual([
      Array.from({ length: 100 }, (_, nth) => nth + 1),
      Array.from({ length: 100 }, (_, nth) => nth + 101),
    ]);
    const [first] = pages[0]!;
    expect(first).toEqual({
      ...{ createdUTCDate: '2026-03-09T22:00:00.000Z', type: 'voucher', svcId: expect.stringMatching(/^\w{18}$/) },
      ...{ refundReference: '', disputeReference: '', siteId: 5001, externalReference: 'order-1' },
      ...{ currencyISOCode: 'ZAR', amount: 1 },
    });
    expect(await listAll(shop, '2026-03-10', 5002)).toEqual([[]]);
    expect((await listAll(shop, '2026-03')).flat()).toHaveLength(202);
  });

  test('are exported as the same file that the merchant’s API has, without movements after the first page', async () => {
    advanceTo('2026-03-15T10:00:00Z');
    const shop = await openBookedShop(processor);
    const entries = Array.from({ length: 1_001 }, (_, nth) => ['2026-03-10T10:00:00Z', nth + 1] as const);
    await shop.book(entries);
    await shop.book([['2026-03-10T10:00:00Z', 5]], 5002);
    const request = { merchantId: shop.merchantId, mode: 'test', period: '2026-03-10', siteId: 5001 } as const;
    const client = await createRefundClient(processor, { merchantId: shop.merchantId });
    const url = `/business/api/v1/merchants/${shop.merchantId}/settlements/2026-03-10?siteId=5001`;
    const headers = { 'x-api-key': client.apiKey, accept: 'text/csv' };
    const { body } = await processor.service.app.inject({ method: 'GET', url, headers });
    const first = await commands.request(ExportSettlementV1, request);
    await shop.book([['2026-03-10T10:00:00Z', 7]]);
    const second = await commands.request(ExportSettlementV1, { ...request, after: first.next! });
    expect([first.lines.split('\r\n').length, second.next]).toEqual([1 + 1_000 + 1, undefined]);
    expect(first.lines + second.lines).toBe(body);
    expect(first.fileName).toBe(`settlement-${shop.merchantId}-5001-test-2026-03-10-provisional.csv`);
    await processor.sealLedger();
    expect((await commands.request(ExportSettlementV1, request)).fileName).toBe(
      `settlement-${shop.merchantId}-5001-test-2026-03-10.csv`,
    );
  });
});

test('while two statements are read, another one must be repeated', async () => {
  const shop = await openBookedShop(processor);
  const settlements = processor.service.app.get(SettlementRepository);
  const release: (() => void)[] = [];
  const findSeal = settlements.findSeal.bind(settlements);
  jest.spyOn(settlements, 'findSeal').mockImplementation(async (time) => {
    await new Promise<void>((resolve) => release.push(resolve));
    return findSeal(time);
  });
  const reads = [shop.read('2026-03'), shop.read('2026-03')];
  while (release.length < 2) await new Promise(setImmediate);
  await expect(shop.read('2026-03')).rejects.toMatchObject({ code: 'service.not-ready' });
  for (const each of release) each();
  await Promise.all(reads);
  jest.restoreAllMocks();
  await shop.read('2026-03');
});
