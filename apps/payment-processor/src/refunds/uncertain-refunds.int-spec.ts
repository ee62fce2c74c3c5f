/**
 * Refunds at an acquirer that answers no queries, when no response decides them: they are never sent in a way that could
 * refund twice.
 */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { SeparateAcquirer } from '../../test/acquirers/separate-acquirer.js';
import { buildPayable } from '../../test/builders.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { Acquirer, RefundOutcome } from '../acquirers/acquirer.js';

const merchantId = 1001;
const DAY_MS = 86_400_000;

let processor: Processor;
let acquirer: SeparateAcquirer;
let backOffice: RefundClient;
let send: jest.SpiedFunction<Acquirer['refund']>;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = new SeparateAcquirer(processor);
  backOffice = await createRefundClient(processor, { merchantId });
  send = jest.spyOn(acquirer.acquirer, 'refund');
});
afterEach(() => processor.stop());

const pay = () => processor.pay(buildPayable());
const reportCapture = (payment: { paymentReference: string }) =>
  acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });

/** A refund of a captured payment that stays pending after this response of the acquirer. Returns its id. */
async function refundWith(outcome: RefundOutcome, payment: { paymentReference: string }): Promise<string> {
  send.mockResolvedValue(outcome);
  const response = backOffice.refund(payment.paymentReference, { amount: 100 }, randomUUID());
  const refundId = await waitUntil('the refund', 5_000, async () => {
    const [row] = await processor.dataSource.query<{ id: string }[]>(`SELECT refund_id AS id FROM refunds`);
    return row?.id ?? false;
  });
  processor.clock.advance(20_000);
  expect((await response).status).toBe(202);
  return refundId;
}

const readRefund = async (): Promise<unknown> => {
  const [row] = await processor.dataSource.query<unknown[]>(
    `SELECT r.state, r.uncertain_since IS NOT NULL AS "isUncertain",
            (SELECT json_agg(i.response) FROM refund_incidents i WHERE i.refund_id = r.refund_id) AS incidents FROM refunds r`,
  );
  return row;
};
async function recoverAfter(milliseconds: number): Promise<void> {
  processor.clock.advance(milliseconds);
  await processor.recoverRefunds();
}

test('a refund that was answered without an outcome is an incident, is not sent again, and ends with a report', async () => {
  const payment = await pay();
  await reportCapture(payment);
  const refundId = await refundWith({ kind: 'uncertain' }, payment);
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: true, incidents: ['uncertain'] });
  for (const milliseconds of [60_000, 300_000, DAY_MS]) await recoverAfter(milliseconds);
  expect(send).toHaveBeenCalledTimes(1);
  expect(await acquirer.report({ kind: 'refund', refundId, outcome: 'succeeded' })).toBe('applied');
  expect(await readRefund()).toMatchObject({ state: 'succeeded' });
});

test('a refund without a response is sent again under its key for six days, and is then an incident', async () => {
  const payment = await pay();
  await reportCapture(payment);
  const refundId = await refundWith({ kind: 'unknown' }, payment);
  // The request that waits for the outcome may send it too.
  const calls = send.mock.calls.length;
  await recoverAfter(6 * DAY_MS - 20_001);
  expect(send).toHaveBeenCalledTimes(calls + 1);
  expect(new Set(send.mock.calls.map(([{ idempotencyKey }]) => idempotencyKey))).toEqual(new Set([refundId]));
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: false, incidents: null });
  await recoverAfter(300_000);
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: true, incidents: ['uncertain'] });
  await recoverAfter(DAY_MS);
  expect(send).toHaveBeenCalledTimes(calls + 1);
  expect(await readRefund()).toMatchObject({ incidents: ['uncertain'] });
});

test('the six days of a refund that waits for the capture begin with the capture', async () => {
  const payment = await pay();
  await refundWith({ kind: 'unknown' }, payment);
  expect(send).not.toHaveBeenCalled();
  await recoverAfter(7 * DAY_MS);
  await reportCapture(payment);
  await processor.recoverRefunds();
  expect(send).toHaveBeenCalledTimes(1);
  await recoverAfter(5 * DAY_MS);
  expect(send).toHaveBeenCalledTimes(2);
  await recoverAfter(DAY_MS);
  expect(send).toHaveBeenCalledTimes(2);
  expect(await readRefund()).toMatchObject({ isUncertain: true });
});

test('an acquirer that answers queries knows that it has received no refund, so the refund is sent again at any age', async () => {
  Object.assign(acquirer.acquirer, { capturesSeparately: false });
  const payment = await pay();
  await refundWith({ kind: 'unknown' }, payment);
  const calls = send.mock.calls.length;
  await recoverAfter(7 * DAY_MS);
  expect(send).toHaveBeenCalledTimes(calls + 1);
  expect(await readRefund()).toMatchObject({ isUncertain: false });
});

describe('a refund of a captured payment whose capture fails later', () => {
  const failCapture = (payment: { paymentReference: string }) =>
    acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' });

  test('waits for the report of the acquirer, if the acquirer has received it', async () => {
    const payment = await pay();
    await reportCapture(payment);
    const refundId = await refundWith({ kind: 'pending', acquirerReference: 'r-1' }, payment);
    await failCapture(payment);
    await recoverAfter(600_000);
    expect(await readRefund()).toEqual({ state: 'pending', isUncertain: false, incidents: null });
    expect(await acquirer.report({ kind: 'refund', refundId, outcome: 'succeeded' })).toBe('applied');
    expect(await readRefund()).toEqual({ state: 'succeeded', isUncertain: false, incidents: null });
    expect(send).toHaveBeenCalledTimes(1);
  });

  test.each(['succeeded', 'declined'] as const)(
    'is an incident if the acquirer may have received it, is not sent again, and ends when it is reported as %s',
    async (outcome) => {
      const payment = await pay();
      await reportCapture(payment);
      const refundId = await refundWith({ kind: 'unknown' }, payment);
      const calls = send.mock.calls.length;
      await failCapture(payment);
      await recoverAfter(600_000);
      expect(await readRefund()).toEqual({ state: 'pending', isUncertain: true, incidents: ['uncertain'] });
      expect(await acquirer.report({ kind: 'refund', refundId, outcome })).toBe('applied');
      expect(send).toHaveBeenCalledTimes(calls);
    },
  );
});

test('a refund whose report is missing for five days is an incident once, and still ends with its report', async () => {
  const payment = await pay();
  await reportCapture(payment);
  const refundId = await refundWith({ kind: 'pending', acquirerReference: 'r-1' }, payment);
  await recoverAfter(5 * DAY_MS - 20_001);
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: false, incidents: null });
  await recoverAfter(300_000);
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: true, incidents: ['uncertain'] });
  await recoverAfter(DAY_MS);
  const [incident] = await processor.dataSource.query<unknown[]>(`SELECT occurrences FROM refund_incidents`);
  expect(incident).toEqual({ occurrences: 1 });
  expect(send).toHaveBeenCalledTimes(1);
  expect(await acquirer.report({ kind: 'refund', refundId, outcome: 'succeeded' })).toBe('applied');
});

test('an acquirer that answers queries may take any time to decide a refund', async () => {
  Object.assign(acquirer.acquirer, { capturesSeparately: false });
  const payment = await pay();
  await refundWith({ kind: 'pending', acquirerReference: 'r-1' }, payment);
  await recoverAfter(30 * DAY_MS);
  expect(await readRefund()).toEqual({ state: 'pending', isUncertain: false, incidents: null });
});
