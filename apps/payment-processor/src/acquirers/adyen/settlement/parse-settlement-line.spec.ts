import fc from 'fast-check';
import { settlementTransfer } from '../../../ledger/transfer.js';
import { SettlementReportError } from '../../settlement-line.js';
import { checkColumns, parseCents, parseSettlementLine, type ReportRecord } from './parse-settlement-line.js';

const NAME = 'settlement_detail_report_batch_4.csv';
const REFUND_ID = '019b3130-5d58-716d-8881-9a3ec506017f';
/** The example of a payment on Adyen's page "Settlement details report", in another currency. */
const SETTLED: ReportRecord = {
  'Merchant Account': 'TestMerchant',
  'Psp Reference': '1813702551707653',
  'Merchant Reference': '3vpzf7',
  Type: 'Settled',
  'Modification Reference': '1713702551795048',
  'Gross Currency': 'ZAR',
  'Gross Debit (GC)': '',
  'Gross Credit (GC)': '5.00',
  'Net Currency': 'ZAR',
  'Net Debit (NC)': '',
  'Net Credit (NC)': '4.88',
  'Commission (NC)': '',
  'Markup (NC)': '0.04',
  'Scheme Fees (NC)': '0.01',
  'Interchange (NC)': '0.07',
  'Modification Merchant Reference': '',
  'Batch Number': '',
};
const parse = (change: Partial<ReportRecord> = {}, name = NAME) =>
  parseSettlementLine({ ...SETTLED, ...change }, 7, name);
/** Changes of a record without amounts. */
const NO_AMOUNTS = {
  ...{ 'Gross Currency': '', 'Gross Credit (GC)': '', 'Net Credit (NC)': '' },
  ...{ 'Markup (NC)': '', 'Scheme Fees (NC)': '', 'Interchange (NC)': '' },
};

test("Adyen's example of a payment", () =>
  expect(parse()).toEqual({
    accountReference: 'TestMerchant',
    batch: 4,
    lineNumber: 7,
    kind: 'capture',
    type: 'Settled',
    paymentReference: '3vpzf7',
    chargeReference: '1813702551707653',
    refundId: undefined,
    disputeReportReference: undefined,
    acquirerReference: '1813702551707653',
    currencyISOCode: 'ZAR',
    grossAmount: 500,
    netAmount: 488,
    feeAmount: 12,
    feeParts: { commission: 0, markup: 4, schemeFees: 1, interchange: 7 },
    problem: undefined,
  }));

test("Adyen's example of a chargeback, whose amounts have one decimal", () =>
  expect(
    parse({
      ...NO_AMOUNTS,
      Type: 'Chargeback',
      'Modification Reference': '2313642467170922',
      'Gross Currency': 'ZAR',
      'Gross Debit (GC)': '349.99',
      'Net Debit (NC)': '357.49',
      'Commission (NC)': '7.5',
    }),
  ).toMatchObject({
    kind: 'dispute',
    disputeReportReference: '2313642467170922-CHARGEBACK',
    acquirerReference: '2313642467170922',
    grossAmount: -34_999,
    netAmount: -35_749,
    feeAmount: 750,
    problem: undefined,
  }));

test.each([
  ['Refunded', 'refund'],
  ['RefundedReversed', 'refundReturn'],
] as const)('a line of type %s has the id of the refund', (Type, kind) => {
  const line = parse({ Type, 'Modification Merchant Reference': REFUND_ID });
  expect(line).toMatchObject({ kind, refundId: REFUND_ID, acquirerReference: '1713702551795048' });
  expect(parse({ Type, 'Modification Merchant Reference': 'other' })).toMatchObject({ refundId: undefined });
});

test.each([
  ['SettledReversed', 'captureReversal', undefined],
  ['SecondChargeback', 'dispute', '1713702551795048-SECOND_CHARGEBACK'],
  ['ChargebackReversed', 'disputeReversal', '1713702551795048-CHARGEBACK_REVERSED'],
  ['Fee', 'fee', undefined],
  ['InvoiceDeduction', 'fee', undefined],
  ['MerchantPayout', 'payout', undefined],
  ['Balancetransfer', 'balance', undefined],
  ['DepositCorrection', 'balance', undefined],
  ['NewType', 'unknown', undefined],
  ['toString', 'unknown', undefined],
  ['', 'unknown', undefined],
  ['\u0000', 'unknown', undefined],
  ['x'.repeat(101), 'unknown', undefined],
])('a line of type %j is of kind %s', (Type, kind, disputeReportReference) =>
  expect(parse({ Type })).toMatchObject({ kind, disputeReportReference }),
);

test('the net amount of a line of type Fee is the fee, also if it is returned', () => {
  const fee = { ...NO_AMOUNTS, Type: 'Fee', 'Psp Reference': '', 'Merchant Reference': '' };
  const none = { grossAmount: undefined, paymentReference: undefined, chargeReference: undefined, problem: undefined };
  expect(parse({ ...fee, 'Net Debit (NC)': '0.10' })).toMatchObject({ ...none, netAmount: -10, feeAmount: 10 });
  expect(parse({ ...fee, 'Net Credit (NC)': '0.10' })).toMatchObject({ ...none, netAmount: 10, feeAmount: -10 });
  expect(parse({ ...fee, 'Net Credit (NC)': '' }).feeAmount).toBe(0);
});

test('a payout has no fee', () =>
  expect(parse({ ...NO_AMOUNTS, Type: 'MerchantPayout', 'Net Debit (NC)': '99.00' })).toMatchObject({
    netAmount: -9_900,
    feeAmount: undefined,
    problem: undefined,
  }));

test('the batch is the one of the line, or of the name of the report', () => {
  expect(parse({ 'Batch Number': '12' }).batch).toBe(12);
  expect(parse({}, 'settlement_detail_report_batch_38_20261127.csv').batch).toBe(38);
});

test.each<[Partial<ReportRecord>, string]>([
  [{ 'Merchant Account': '' }, NAME],
  [{ 'Merchant Account': 'x'.repeat(101) }, NAME],
  [{ 'Batch Number': '1.5' }, NAME],
  [{ 'Batch Number': '1'.repeat(13) }, NAME],
  [{}, 'settlement_detail_report.csv'],
  [{}, 'x_settlement_detail_report_batch_4.csv'],
])('a record without an account or a batch ends the reading: %j', (change, name) =>
  expect(() => parse(change, name)).toThrow(SettlementReportError),
);

test.each<[string, Partial<ReportRecord>, object]>([
  ['Net Credit (NC) is not an amount.', { 'Net Credit (NC)': '4,88' }, { netAmount: undefined, feeAmount: undefined }],
  [
    'Gross Credit (GC) is not an amount.',
    { 'Gross Credit (GC)': '5e2' },
    { grossAmount: undefined, feeAmount: undefined },
  ],
  ['Gross Currency has no cents. It was', { 'Gross Currency': 'KWD' }, { grossAmount: undefined }],
  ['Net Currency has no cents', { 'Net Currency': 'JPY', 'Gross Currency': 'JPY' }, { currencyISOCode: undefined }],
  ['Net Currency has no cents', { 'Net Currency': 'zar' }, { currencyISOCode: undefined }],
  ['It was converted into another currency.', { 'Gross Currency': 'EUR' }, { grossAmount: 500, feeAmount: undefined }],
  ['It has no gross amount.', { 'Gross Currency': '' }, { grossAmount: undefined, feeAmount: undefined }],
  ['It has no net currency. It was', { 'Net Currency': '' }, { currencyISOCode: undefined }],
  ['Its fees are not the difference', { 'Markup (NC)': '0.05' }, { feeAmount: 12 }],
  ['Markup (NC) is not an amount. Its fees', { 'Markup (NC)': '0.041' }, { feeAmount: 12, netAmount: 488 }],
  ['Psp Reference is not a reference.', { 'Psp Reference': 'a\u0000' }, { chargeReference: undefined }],
  [
    'Merchant Reference is not a reference.',
    { 'Merchant Reference': 'x'.repeat(101) },
    { paymentReference: undefined },
  ],
])('a line with the problem "%s" is kept', (problem, change, fields) => {
  const line = parse(change);
  expect(line).toMatchObject(fields);
  expect(line.problem?.startsWith(problem.replace(/ It was$| Its fees$/, ''))).toBe(true);
  expect(line.problem!.length).toBeLessThanOrEqual(200);
});

test('a report needs the columns that are read, in any order, and may have others', () => {
  const columns = Object.keys(SETTLED);
  expect(checkColumns(['Other', ...columns.toReversed()])).toEqual(['Other', ...columns.toReversed()]);
  for (const missing of columns)
    expect(() => checkColumns(columns.filter((column) => column !== missing))).toThrow(`no column ${missing}.`);
});

describe('amounts', () => {
  const cents = fc.integer({ min: -9_999_999_999_999, max: 9_999_999_999_999 });
  const format = (value: number): string => {
    const digits = String(Math.abs(value)).padStart(3, '0');
    return `${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  };

  test('are exact cents', () =>
    fc.assert(fc.property(cents, (value) => expect(parseCents(format(value))).toBe(value))));

  test('are exact with fewer decimals', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), fc.integer({ min: 0, max: 9 }), (whole, tenth) => {
        expect([parseCents(`${whole}`), parseCents(`${whole}.${tenth}`)]).toEqual([
          whole * 100,
          whole * 100 + tenth * 10,
        ]);
      }),
    ));

  test.each(['.5', '5.', '5.001', '1e3', '+1', ' 1', '1 ', '0x1', '1,00', 'NaN', '--1', '1'.repeat(12), '１'])(
    '%j is not an amount',
    (text) => expect(parseCents(text)).toBeUndefined(),
  );

  test('that are empty are 0, and 0 is never negative', () =>
    expect([parseCents(''), parseCents('-0.00')]).toStrictEqual([0, 0]));

  test('of any text never throw, and are bounded', () =>
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseCents(text);
        expect(parsed === undefined || Math.abs(parsed) < 1e13).toBe(true);
      }),
    ));
});

test('any text in any column is a line or an error of the report', () =>
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(SETTLED)), fc.string({ unit: 'binary' }), (column, text) => {
      try {
        expect(parse({ [column]: text }).lineNumber).toBe(7);
      } catch (error) {
        if (!(error instanceof SettlementReportError)) throw error;
      }
    }),
  ));

test('a fee and the movement of its line change what the acquirer owes by the net amount', () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: -1_000, max: 1_000 }), (gross, fee) => {
      const net = gross - fee;
      const line = parse({
        'Gross Credit (GC)': `${gross}`,
        [net < 0 ? 'Net Debit (NC)' : 'Net Credit (NC)']: `${Math.abs(net)}`,
        ...(net < 0 ? { 'Net Credit (NC)': '' } : {}),
      });
      const booked = settlementTransfer(line, { mode: 'test', acquirer: 'adyen' });
      const change = booked === undefined ? 0 : booked.debit.endsWith(':receivable') ? booked.amount : -booked.amount;
      expect(line.grossAmount! + change).toBe(line.netAmount);
    }),
  ));
