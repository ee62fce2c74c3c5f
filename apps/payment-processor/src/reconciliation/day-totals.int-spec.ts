/** Tests which payments, attempts and refunds the totals of a range of time count, and which of them are pending. */
import { type Processor, startProcessor } from '../../test/processor.js';
import {
  BEFORE_WATERMARK,
  BOUNDARY_TIMES,
  RANGE,
  ReconciledMerchant,
  type StoredPayment,
  WATERMARK,
} from '../../test/reconciled-rows.js';
import { DayTotalsQuery } from './day-totals.query.js';

let processor: Processor;
let merchant: ReconciledMerchant;
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(() => {
  merchant = new ReconciledMerchant(processor);
});
afterAll(() => processor.stop());

const countTotals = () =>
  processor.service.app.get(DayTotalsQuery).count(RANGE, new Date(WATERMARK), merchant.owner.merchantId);
const NO_COUNTS = {
  ...{ payments: 0, processed: 0, failed: 0, pending: 0, unknown: 0, refunds: 0, refunded: 0, refundsPending: 0 },
  unsettled: 0,
};
const insertEarlierPayment = (): Promise<StoredPayment> =>
  merchant.insertPayment({ accepted_at: '2026-03-01T07:00:00.000Z' });

test.each([
  ['success', BEFORE_WATERMARK, { payments: 1, processed: 100 }],
  ['failed', BEFORE_WATERMARK, { failed: 1 }],
  ['success', WATERMARK, { pending: 1 }],
  ['failed', WATERMARK, { pending: 1 }],
  ['processing', BEFORE_WATERMARK, { pending: 1 }],
  ['verificationRequired', BEFORE_WATERMARK, { pending: 1 }],
])('a payment in the state %s since %s is counted as %j', async (state, modifiedAt, counts) => {
  await merchant.insertPayment({ state, modified_at: modifiedAt });
  expect(await countTotals()).toEqual([{ ...merchant.owner, ...NO_COUNTS, ...counts }]);
});

test('the payments that were accepted in the range are counted', async () => {
  for (const time of BOUNDARY_TIMES) await merchant.insertPayment({ accepted_at: time });
  expect(await countTotals()).toMatchObject([{ payments: 2 }]);
});

test('the attempts without an outcome that started in the range are counted', async () => {
  for (const time of BOUNDARY_TIMES)
    await merchant.insertAttempt(await insertEarlierPayment(), { state: 'unknown', started_at: time });
  expect(await countTotals()).toMatchObject([{ unknown: 2 }]);
});

test.each(['started', 'unknown', 'reversing'])('an attempt in the state %s is counted as unknown', async (state) => {
  await merchant.insertAttempt(await insertEarlierPayment(), { state });
  expect(await countTotals()).toEqual([{ ...merchant.owner, ...NO_COUNTS, unknown: 1 }]);
});

test('an attempt with an outcome is not counted', async () => {
  await merchant.insertAttempt(await insertEarlierPayment(), { state: 'approved' });
  expect(await countTotals()).toEqual([]);
});

test.each([
  ['succeeded', BEFORE_WATERMARK, { refunds: 1, refunded: 10 }],
  ['failed', BEFORE_WATERMARK, {}],
  ['succeeded', WATERMARK, { refundsPending: 1 }],
  ['failed', WATERMARK, { refundsPending: 1 }],
  ['pending', null, { refundsPending: 1 }],
])('a refund in the state %s that ended at %s is counted as %j', async (state, endedAt, counts) => {
  const payment = await insertEarlierPayment();
  await merchant.insertRefund(payment, await merchant.insertAttempt(payment), { state, ended_at: endedAt });
  expect(await countTotals()).toEqual([{ ...merchant.owner, ...NO_COUNTS, ...counts }]);
});
