import { randomUUID } from 'node:crypto';
import type { SettlementStatement } from '@svc/contracts';
import { LocalCalendar } from '@svc/kernel';
import { httpClient, openOlderTransaction, openTransaction, waitUntil } from '@svc/testing';
import { parse } from 'csv-parse/sync';
import { buildPayable } from '../../test/builders.js';
import { TestDispute } from '../../test/disputes.js';
import { createRefundClient, type KeyOwner, type RefundClient } from '../../test/merchant-key.js';
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { SettlementRepository } from './settlement.repository.js';
import { parseSettlementRange } from './settlement-range.js';

const DAY = '2026-03-01';

const NONE = { count: 0, amount: 0 };
let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
  partner = await createPartner(processor);
});
beforeEach(async () => {
  const grants = [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }];
  merchant = await createMerchant(processor, { grants, features: { tip: { enabled: true } } });
});
afterAll(() => processor.stop());

interface BackOffice extends RefundClient {
  readStatement(day?: string): Promise<SettlementStatement>;
  /** The lines of the CSV. */
  readMovements(day?: string): Promise<Record<string, string>[]>;
}

async function createBackOffice(owner: Partial<KeyOwner> = {}): Promise<BackOffice> {
  const client = await createRefundClient(processor, { merchantId: merchant.merchantId, ...owner });
  const url = (days: string): string =>
    `/business/api/v1/merchants/${merchant.merchantId}/settlements${days.startsWith('?') ? '' : '/'}${days}`;
  const headers = { 'x-api-key': client.apiKey };
  return {
    ...client,
    readStatement: async (day = DAY) => {
      const { status, body } = await httpClient(processor.service, headers)('GET', url(day));
      expect(status).toBe(200);
      return body as SettlementStatement;
    },
    readMovements: async (day = DAY) => {
      const { app } = processor.service;
      const response = await app.inject({
        method: 'GET',
        url: url(day),
        headers: { ...headers, accept: 'text/csv; charset=utf-8; header=present' },
      });
      expect([response.statusCode, response.headers['content-type']]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
      ]);
      return parse(response.body, { columns: true });
    },
  };
}

interface TransferOverrides {
  readonly connection?: { query(text: string, values: unknown[]): Promise<unknown> };
  readonly position?: number;
  readonly amount?: number;
}

const sumAmounts = (lines: readonly Record<string, string>[]): number =>
  lines.reduce((sum, { amountCents }) => sum + Number(amountCents), 0);
/** The beginning and the end of {@link DAY} in Johannesburg. */
const DAY_IN_JOHANNESBURG = {
  ...{ from: DAY, to: DAY, timeZone: 'Africa/Johannesburg' },
  ...{ fromUTCDate: '2026-02-28T22:00:00.000Z', untilUTCDate: '2026-03-01T22:00:00.000Z' },
};
/** The merchant's balance in the ledger. */
async function readBalance(mode = 'test'): Promise<number> {
  const [row] = await processor.dataSource.query<[{ balance: number }]>(
    `SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0)::bigint AS balance
       FROM transfers WHERE $1 IN (credit_account, debit_account)`,
    [`${mode}:merchant:${merchant.merchantId}:payable`],
  );
  return row.balance;
}

test('the statement of a day with all types of movements has the correct credits, debits and net amount, to the cent', async () => {
  // The fee of a payment is 2.85 % of its amount plus R 1.99. The shares of 2.85 % are 351.8 and 299.3 cents, and are
  // rounded.
  const fees = { test: { basisPoints: 285, fixedAmount: 199 } };
  const grants = [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }];
  merchant = await createMerchant(processor, { grants, features: { tip: { enabled: true } }, fees });
  const backOffice = await createBackOffice();
  const hostedPayment = await processor.pay(buildPayable(merchant));
  const external = { paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } } };
  const vouchers = [
    { merchantLiable: true, amount: 2_000 },
    { merchantLiable: false, amount: 345 },
  ];
  await partner.pay(await openInvoice(processor, merchant), { vouchers, tipAmount: 500 });
  await partner.pay(await openInvoice(processor, merchant), external);
  await backOffice.refund(hostedPayment.paymentReference, { amount: 1_001 });
  const refunded = await backOffice.refund(hostedPayment.paymentReference, { amount: 44 });
  const dispute = new TestDispute(processor, hostedPayment);
  await dispute.report('debited', { amount: 3_003 });
  await dispute.report('reversed', { amount: 2_002 });
  await dispute.report('debitedAgain', { amount: 1_111 });

  expect(await backOffice.readStatement()).toEqual({
    ...{ merchantId: merchant.merchantId, mode: 'test', ...DAY_IN_JOHANNESBURG, status: 'provisional' },
    totals: [
      {
        currencyISOCode: 'ZAR',
        payments: { count: 2, amount: 12_345 + 10_500 },
        vouchers: { count: 1, amount: 345 },
        externalPayments: { count: 1, amount: 12_345 },
        refunds: { count: 2, amount: 1_045 },
        fees: { count: 2, amount: 352 + 299 + 2 * 199 },
        disputes: { count: 2, amount: 3_003 + 1_111 },
        disputeReversals: { count: 1, amount: 2_002 },
        ...{ reversals: NONE, refundReturns: NONE, feeReversals: NONE },
        net: 12_345 + 10_500 + 345 + 12_345 - 1_045 - 1_049 - 4_114 + 2_002,
      },
    ],
  });
  const lines = await backOffice.readMovements();
  expect(lines.map(({ type }) => type).sort()).toEqual([
    ...['dispute', 'dispute', 'disputeReversal', 'externalPayment', 'fee', 'fee', 'payment', 'payment'],
    ...['refund', 'refund', 'voucher'],
  ]);
  expect(lines.find(({ refundReference }) => refundReference === refunded.body.refundReference)).toEqual({
    ...{ day: DAY, localDate: DAY, localTime: '12:00:00', timeZone: 'Africa/Johannesburg' },
    ...{ createdUTCDate: processor.clock.nowISO(), type: 'refund', svcId: hostedPayment.paymentReference },
    ...{ refundReference: refunded.body.refundReference, disputeReference: '', siteId: '5001' },
    ...{ externalReference: 'order-1', currencyISOCode: 'ZAR', amountDecimal: '-0.44', amountCents: '-44' },
  });
  expect(lines.find(({ type }) => type === 'voucher')).toMatchObject({
    ...{
      siteId: '5001',
      externalReference: 'inv-1',
      currencyISOCode: 'ZAR',
      amountDecimal: '3.45',
      amountCents: '345',
    },
  });
  const disputeLines = lines.filter(({ type }) => type!.startsWith('dispute'));
  const { disputeReference } = disputeLines[0]!;
  expect(disputeReference).toMatch(/^[0-9a-f-]{36}$/);
  expect(disputeLines).toMatchObject(
    ['-3003', '2002', '-1111'].map((amountCents) => {
      return { svcId: hostedPayment.paymentReference, refundReference: '', disputeReference, amountCents };
    }),
  );
  const [totals] = (await backOffice.readStatement()).totals;
  expect([sumAmounts(lines), await readBalance()]).toEqual([totals!.net, totals!.net]);
});

describe('a settlement statement', () => {
  test('contains only movements of the key’s merchant and mode', async () => {
    const [backOffice, liveBackOffice] = [await createBackOffice(), await createBackOffice({ mode: 'live' })];
    await processor.pay(buildPayable(merchant));
    await processor.pay(buildPayable({ ...merchant, mode: 'live', amount: 77 }));
    const otherMerchant = await createMerchant(processor);
    await processor.pay(buildPayable({ ...otherMerchant, amount: 99 }));
    expect((await backOffice.readStatement()).totals).toMatchObject([{ payments: { count: 1 }, net: 12_345 }]);
    expect(await liveBackOffice.readStatement()).toMatchObject({
      mode: 'live',
      totals: [{ payments: { count: 1 }, net: 77 }],
    });
    expect((await liveBackOffice.readMovements()).map(({ amountCents }) => amountCents)).toEqual(['77']);
  });

  test("contains only the site's movements if the key belongs to a site", async () => {
    const [backOffice, site] = [await createBackOffice(), await createBackOffice({ siteId: 5001 })];
    await processor.pay(buildPayable({ ...merchant, amount: 11 }));
    await processor.pay(buildPayable({ ...merchant, siteId: 5002, amount: 22 }));
    expect((await backOffice.readStatement()).totals).toMatchObject([{ net: 33 }]);
    expect(await site.readStatement()).toMatchObject({ siteId: 5001, totals: [{ net: 11 }] });
    expect((await site.readMovements()).map(({ siteId }) => siteId)).toEqual(['5001']);
  });

  test('of one site can be requested with the key of the merchant, and with the key of that site only', async () => {
    await createMerchant(processor, { merchantId: merchant.merchantId }, 5002);
    const [backOffice, site] = [await createBackOffice(), await createBackOffice({ siteId: 5001 })];
    await processor.pay(buildPayable({ ...merchant, amount: 11 }));
    await processor.pay(buildPayable({ ...merchant, siteId: 5002, amount: 22 }));
    const ofSite2 = `${DAY}?siteId=5002`;
    expect(await backOffice.readStatement(ofSite2)).toMatchObject({ siteId: 5002, totals: [{ net: 22 }] });
    expect((await backOffice.readMovements(ofSite2)).map(({ siteId }) => siteId)).toEqual(['5002']);
    expect(await site.readStatement(`${DAY}?siteId=5001`)).toMatchObject({ siteId: 5001, totals: [{ net: 11 }] });
    const url = `/business/api/v1/merchants/${merchant.merchantId}/settlements/${DAY}?siteId=`;
    const get = async ({ apiKey }: BackOffice, siteId: string): Promise<number> =>
      (await httpClient(processor.service, { 'x-api-key': apiKey })('GET', `${url}${siteId}`)).status;
    const otherMerchant = await createMerchant(processor, {}, 7001);
    expect([await get(site, '5002'), await get(backOffice, String(otherMerchant.siteId))]).toEqual([403, 404]);
    for (const malformed of ['x', '', '5001&siteId=5001']) expect(await get(backOffice, malformed)).toBe(400);
  });

  test('is available to administrators for any merchant and mode', async () => {
    await processor.pay(buildPayable({ ...merchant, mode: 'live' }));
    const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
    const get = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
    for (const path of [`/admin/v1/settlements/${DAY}?`, `/admin/v1/settlements?from=${DAY}&`]) {
      const url = `${path}merchantId=${merchant.merchantId}`;
      expect(await get('GET', `${url}&mode=live`)).toMatchObject({ status: 200, body: { totals: [{ net: 12_345 }] } });
      expect(await get('GET', `${url}&mode=test`)).toMatchObject({ status: 200, body: { totals: [] } });
      for (const wrong of [url, `${url}&mode=real`, `${path}merchantId=x&mode=test`])
        expect((await get('GET', wrong)).status).toBe(400);
      expect((await httpClient(processor.service)('GET', `${url}&mode=live`)).status).toBe(401);
    }
  });

  test('is rejected for another merchant, an invalid day and an unsupported format', async () => {
    const { apiKey } = await createBackOffice();
    const get = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
      (await httpClient(processor.service, { 'x-api-key': apiKey, ...headers })('GET', url)).status;
    const ownPath = `/business/api/v1/merchants/${merchant.merchantId}/settlements`;
    expect(await get(`${ownPath}/${DAY}`, { 'x-api-key': 'svc_test_merchant_x' })).toBe(401);
    expect(await get(`/business/api/v1/merchants/1/settlements/${DAY}`)).toBe(403);
    for (const days of ['/2026-02-30', '/today', '/2026-03-02', '', '?to=2026-03-01', '?from=2026-03-01&to=2026-02-28'])
      expect(await get(`${ownPath}${days}`)).toBe(400);
    expect(await get(`${ownPath}/${DAY}?bom=yes`)).toBe(400);
    expect(await get(`${ownPath}/${DAY}`, { accept: 'application/pdf' })).toBe(406);
    for (const accept of ['', 'application/json; charset=utf-8'])
      expect(await get(`${ownPath}/${DAY}`, { accept })).toBe(200);
  });
});

test.each([
  ['a merchant', {}, ''],
  ['a site', { siteId: 5001 }, '-5001'],
])(
  'the file name of the CSV for %s contains the owner, the mode and the days, and whether the statement is provisional',
  async (_, site, siteInName) => {
    const { apiKey } = await createBackOffice(site);
    const readFileName = async (days: string): Promise<unknown> => {
      const url = `/business/api/v1/merchants/${merchant.merchantId}/settlements${days}`;
      const headers = { 'x-api-key': apiKey, accept: 'text/csv' };
      return (await processor.service.app.inject({ method: 'GET', url, headers })).headers['content-disposition'];
    };
    const name = `settlement-${merchant.merchantId}${siteInName}-test`;
    expect([await readFileName(`/${DAY}`), await readFileName(`?from=2026-02-01&to=${DAY}`)]).toEqual([
      ...[`attachment; filename="${name}-${DAY}-provisional.csv"`],
      ...[`attachment; filename="${name}-2026-02-01-to-${DAY}-provisional.csv"`],
    ]);
    // This day ended before the processor has started.
    await processor.sealLedger();
    expect(await readFileName('/2026-02-20')).toBe(`attachment; filename="${name}-2026-02-20.csv"`);
  },
);

test('while two statements are read, a third caller gets a 503', async () => {
  const { apiKey } = await createBackOffice();
  const heldRead = Promise.withResolvers<never>();
  const read = jest.spyOn(processor.service.app.get(SettlementRepository), 'read').mockReturnValue(heldRead.promise);
  const get = () =>
    httpClient(processor.service, { 'x-api-key': apiKey })(
      'GET',
      `/business/api/v1/merchants/${merchant.merchantId}/settlements/${DAY}`,
    );
  const pendingReads = [get(), get()];
  await waitUntil('two reads', 5_000, () => Promise.resolve(read.mock.calls.length === 2));
  const third = await get();
  expect([third.status, third.headers['retry-after']]).toEqual([503, '1']);
  heldRead.reject(new Error('end of the read'));
  await Promise.all(pendingReads);
  read.mockRestore();
  expect((await get()).status).toBe(200);
});

describe('the statement of a day', () => {
  /** Inserts one transfer of the merchant, by default of one cent. */
  const insertTransferAt = (
    at: string,
    paymentReference: string,
    { connection = processor.dataSource, position, amount = 1 }: TransferOverrides = {},
  ): Promise<unknown> =>
    connection.query(
      `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, mode, merchant_id, created_at, position)
       OVERRIDING SYSTEM VALUE
       SELECT $1, 'voucher', 'test:service:vouchers', $2, $6, 'ZAR', payment_id, 'test', $3, $4,
              coalesce($7::bigint, nextval(pg_get_serial_sequence('transfers', 'position')))
         FROM payments WHERE payment_reference = $5`,
      [
        ...[randomUUID(), `test:merchant:${merchant.merchantId}:payable`, merchant.merchantId, at, paymentReference],
        ...[amount, position],
      ],
    );
  /** Reads the movements of transactions below `horizon`, a transaction id. All transactions below it have ended. */
  const readPages = async (day: string, horizon: string): Promise<unknown[]> => {
    const owner = { ...merchant, mode: 'test', siteId: undefined } as const;
    const calendar = new LocalCalendar([{ zone: 'Africa/Johannesburg' }]);
    const range = parseSettlementRange({ day }, calendar, processor.clock.now());
    const pages: unknown[] = [];
    for await (const page of processor.service.app.get(SettlementRepository).readPages(owner, range, horizon))
      pages.push(page);
    return pages;
  };

  test('contains the transfers from the merchant’s midnight to the next midnight, exclusive', async () => {
    const backOffice = await createBackOffice();
    const { paymentReference } = await processor.pay(buildPayable(merchant));
    const times = [
      '2026-02-27T21:59:59.999Z',
      '2026-02-27T22:00:00Z',
      '2026-02-28T21:59:59.999Z',
      '2026-02-28T22:00:00Z',
    ];
    for (const at of times) await insertTransferAt(at, paymentReference);
    expect((await backOffice.readStatement('2026-02-28')).totals).toMatchObject([{ net: 2 }]);
    expect((await backOffice.readMovements('2026-02-28')).map(({ createdUTCDate }) => createdUTCDate)).toEqual([
      '2026-02-27T22:00:00.000Z',
      '2026-02-28T21:59:59.999Z',
    ]);
  });

  test('of several months contains each transfer once, also those between two slices of the sum', async () => {
    const backOffice = await createBackOffice();
    const { paymentReference } = await processor.pay(buildPayable(merchant));
    const start = Date.parse('2025-10-31T22:00:00Z');
    const end = Date.parse('2026-02-28T22:00:00Z');
    const slices = [start, start + 31 * 86_400_000, start + 62 * 86_400_000, start + 93 * 86_400_000, end];
    for (const [nth, time] of slices.entries())
      for (const [at, amount] of [[time - 1, 10 ** (2 * nth)] as const, [time, 10 ** (2 * nth + 1)] as const])
        await insertTransferAt(new Date(at).toISOString(), paymentReference, { amount });
    const { totals } = await backOffice.readStatement('?from=2025-11-01&to=2026-02-28');
    expect(totals).toMatchObject([{ vouchers: { count: 8, amount: 111_111_110 }, net: 111_111_110 }]);
  });

  test('is exported completely and in order, and contains no transfer that is newer than an open transaction', async () => {
    const backOffice = await createBackOffice();
    const { paymentReference } = await processor.pay(buildPayable(merchant));
    const insertTransfers = (client: { query(text: string, values: unknown[]): Promise<unknown> }, count: number) =>
      client.query(
        `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, mode, merchant_id, created_at)
         SELECT gen_random_uuid(), 'voucher', 'test:service:vouchers', $1, n, 'ZAR', payment_id, 'test', $2, $3::timestamptz + (n / 7) * interval '1 ms'
           FROM payments, generate_series(1, $4::int) n WHERE payment_reference = $5`,
        [
          ...[`test:merchant:${merchant.merchantId}:payable`, merchant.merchantId],
          ...['2026-02-20T00:00:00Z', count, paymentReference],
        ],
      );
    await insertTransfers(processor.dataSource, 3_000);
    const amounts = async (): Promise<number[]> =>
      (await backOffice.readMovements('2026-02-20')).map(({ amountCents }) => Number(amountCents));
    expect(await amounts()).toEqual(Array.from({ length: 3_000 }, (_, nth) => nth + 1));
    await using olderTransaction = await openOlderTransaction();
    await insertTransfers(processor.dataSource, 1);
    expect(await amounts()).toHaveLength(3_000);
    await olderTransaction.end();
    expect(await amounts()).toHaveLength(3_001);
  });

  test('is exported without the transfers of transactions that were open at the start of the export', async () => {
    const { paymentReference } = await processor.pay(buildPayable(merchant));
    const settlements = processor.service.app.get(SettlementRepository);
    await using transaction = await openTransaction(processor.dataSource);
    await insertTransferAt('2026-02-25T10:00:00Z', paymentReference, { connection: transaction });
    const horizonBefore = await settlements.snapshotHorizon();
    await transaction.commit();
    const horizonAfter = await settlements.snapshotHorizon();
    expect(await readPages('2026-02-25', horizonBefore)).toEqual([]);
    expect(await readPages('2026-02-25', horizonAfter)).toMatchObject([[{ amount: 1 }]]);
  });

  test('is exported in the order of the positions of its transfers, also if they were written in another order', async () => {
    const { paymentReference } = await processor.pay(buildPayable(merchant));
    for (const position of [1_000_000_003, 1_000_000_001, 1_000_000_002])
      await insertTransferAt('2026-02-24T10:00:00Z', paymentReference, { position, amount: position % 10 });
    const horizon = await processor.service.app.get(SettlementRepository).snapshotHorizon();
    expect(await readPages('2026-02-24', horizon)).toMatchObject([[{ amount: 1 }, { amount: 2 }, { amount: 3 }]]);
  });

  test('begins with a byte-order mark if the request says so', async () => {
    const { apiKey } = await createBackOffice();
    const read = async (query: string): Promise<string> => {
      const url = `/business/api/v1/merchants/${merchant.merchantId}/settlements/${DAY}${query}`;
      const headers = { 'x-api-key': apiKey, accept: 'text/csv' };
      return (await processor.service.app.inject({ method: 'GET', url, headers })).rawPayload.toString('latin1');
    };
    expect([await read(''), await read('?bom=1')]).toEqual([
      ...[expect.stringMatching(/^"day",/), expect.stringMatching(/^\u00ef\u00bb\u00bf"day",/)],
    ]);
  });
});
