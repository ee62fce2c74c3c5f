import type { Mode } from '@svc/contracts';
import type { BookDifference } from './books/compare-books.js';
import { DayReportBuilder } from './day-report.js';

test.each<[Mode, Mode]>([
  ['live', 'test'],
  ['test', 'live'],
])('rows of a merchant without differences are sorted by mode if the modes are added as %s, %s', (...modes) => {
  const report = new DayReportBuilder();
  const counts = { payments: 1, processed: 100, failed: 0, pending: 0, unknown: 0, refunds: 0, refunded: 0 };
  report.addTotals(modes.map((mode) => ({ merchantId: 1001, mode, ...counts, refundsPending: 0, unsettled: 0 })));
  expect(report.finish(true).merchants.map(({ mode }) => mode)).toEqual(['live', 'test']);
});

test('the report lists a merchant with undelivered notifications, but not a merchant whose notifications are all delivered', () => {
  const report = new DayReportBuilder();
  const digest = { mode: 'test', count: 1, amount: 100, hash: '1' } as const;
  const digests = [
    { ...digest, merchantId: 1001, open: 0 },
    { ...digest, merchantId: 1002, open: 2 },
  ];
  report.addBook('webhooks', { isRetained: true, differences: [], digests }, true);
  expect(report.finish(true).merchants).toMatchObject([{ merchantId: 1002, undelivered: 2 }]);
});

const differenceOf = (merchantId: number, book: BookDifference['book'] = 'ledger'): BookDifference => ({
  key: 'r-1',
  kind: 'missing',
  field: null,
  expected: 100,
  found: null,
  book,
  merchantId,
  mode: 'test',
});

describe('the differences of a day', () => {
  it('are counted for each merchant and book, and merchants with most differences are first', () => {
    const report = new DayReportBuilder();
    report.addDifferences([differenceOf(1001), differenceOf(1002)]);
    report.addDifferences([differenceOf(1002), differenceOf(1002, 'payments')]);
    const { merchants, listedDifferences, differences } = report.finish(true);
    expect(merchants.map(({ merchantId, books }) => [merchantId, books.ledger, books.payments, books.history])).toEqual(
      [
        [1002, 2, 1, 0],
        [1001, 1, 0, 0],
      ],
    );
    expect([listedDifferences.length, differences]).toEqual([4, 4]);
  });

  it('are all counted, but only the first hundred are listed', () => {
    const report = new DayReportBuilder();
    report.addDifferences(Array.from({ length: 99 }, () => differenceOf(1001)));
    report.addDifferences([differenceOf(1002), differenceOf(1003)]);
    const { listedDifferences, differences, merchants } = report.finish(true);
    expect([listedDifferences.length, listedDifferences.at(-1)?.merchantId, differences, merchants.length]).toEqual([
      100, 1002, 101, 3,
    ]);
  });
});

test('merchants with equally many differences are sorted by their id, and at most a thousand merchants are listed', () => {
  const report = new DayReportBuilder();
  report.addDifferences(Array.from({ length: 1_001 }, (_, nth) => differenceOf(2_001 - nth)));
  const { merchants, differences } = report.finish(true);
  expect(merchants.map(({ merchantId }) => merchantId)).toEqual(Array.from({ length: 1_000 }, (_, nth) => 1_001 + nth));
  expect(differences).toBe(1_001);
});

test('the counts of all slices are summed for each merchant and mode', () => {
  const report = new DayReportBuilder();
  const counts = { payments: 1, processed: 2, failed: 3, pending: 4, unknown: 5, refunds: 6, refunded: 7 };
  report.addTotals([{ merchantId: 1001, mode: 'test', ...counts, refundsPending: 8, unsettled: 9 }]);
  report.addTotals([{ merchantId: 1001, mode: 'test', ...counts, refundsPending: 8, unsettled: 9 }]);
  const { books: _, ...row } = report.finish(true).merchants[0]!;
  expect(row).toStrictEqual({
    ...{ merchantId: 1001, mode: 'test', undelivered: 0 },
    ...{ payments: 2, processed: 4, failed: 6, pending: 8, unknown: 10, refunds: 12, refunded: 14, refundsPending: 16 },
    unsettled: 18,
  });
});

test('only rows without an outcome or a settlement are open', () => {
  const report = new DayReportBuilder();
  const counts = { payments: 100, processed: 100, failed: 100, refunds: 100, refunded: 100 };
  report.addTotals([
    { merchantId: 1001, mode: 'test', ...counts, pending: 1, unknown: 2, refundsPending: 4, unsettled: 16 },
    { merchantId: 1002, mode: 'live', ...counts, pending: 8, unknown: 0, refundsPending: 0, unsettled: 0 },
  ]);
  expect(report.finish(true).open).toBe(31);
});

test.each([true, false])('the report tells whether the whole day was compared (%s)', (isWholeDay) =>
  expect(new DayReportBuilder().finish(isWholeDay).isWholeDay).toBe(isWholeDay),
);

test('a book is past its retention only if it has deleted rows of the day, and its differences are shown nevertheless', () => {
  const report = new DayReportBuilder();
  const comparison = { differences: [], digests: [] };
  report.addBook('stream', { ...comparison, isRetained: false }, true);
  report.addBook('history', { ...comparison, isRetained: false }, false);
  report.addBook('ledger', { ...comparison, isRetained: true }, true);
  report.addDifferences([differenceOf(1001)]);
  const { pastRetention, merchants } = report.finish(true);
  expect(pastRetention).toEqual(['stream']);
  expect(merchants[0]!.books).toMatchObject({ stream: 'past-retention', history: 0, ledger: 1, payments: 0 });
});
