/** Checks that the statements which apply reports of acquirers find their rows by indexes, even before the tables are analysed. */
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { CaptureRepository } from '../captures/capture.repository.js';
import { AttemptRepository } from '../payments/attempt.repository.js';
import { ReversalRepository } from '../reversals/reversal.repository.js';
import { ReportRepository } from './report.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const ROUTE: ChargeRoute = { acquirer: 'adyen', account: { mode: 'test', accountReference: 'Shop' } };
const PAYMENT_INDEXES = ['payments_payment_reference', 'payables_pkey', 'attempts_one_open'];

test.each<[string, () => Promise<unknown>, string[]]>([
  [
    'due messages',
    () => processor.service.app.get(ReportRepository).leaseDue(new Date(), 50),
    ['acquirer_reports_due', 'acquirer_reports_pkey'],
  ],
  [
    'the attempt of a payment',
    () => processor.service.app.get(AttemptRepository).findByPayment('P', ROUTE),
    PAYMENT_INDEXES,
  ],
  [
    'the capture of a payment',
    () => processor.service.app.get(CaptureRepository).findByPayment('P', ROUTE),
    ['payments_payment_reference', 'payables_pkey', 'captures_payment', 'attempts_pkey'],
  ],
  [
    'the reversal of a payment',
    () => processor.service.app.get(ReversalRepository).findByPayment('P', ROUTE),
    [...PAYMENT_INDEXES, 'reversals_pkey'],
  ],
])('the statement that reads %s uses indexes', async (_, runQuery, indexes) => {
  const plan = await planOf(processor.dataSource, runQuery);
  expect(plan).not.toMatch(/Seq Scan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
