import type { Mode } from '@svc/contracts';
import { DayReportBuilder } from './day-report.js';

test.each<[Mode, Mode]>([
  ['live', 'test'],
  ['test', 'live'],
])('rows of a merchant without differences are sorted by mode if the modes are added as %s, %s', (...modes) => {
  const report = new DayReportBuilder();
  const counts = { payments: 1, processed: 100, failed: 0, pending: 0, unknown: 0, refunds: 0, refunded: 0 };
  report.addTotals(modes.map((mode) => ({ merchantId: 1001, mode, ...counts, refundsPending: 0 })));
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
