import { randomUUID } from 'node:crypto';
import { RefundSucceededV1 } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { expectConsistentRecords, readRefundRecords } from '../../test/books/refund-books.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { Acquirer } from '../acquirers/acquirer.js';
import { RecoverRefunds } from './recover-refunds.js';
import { RefundRepository } from './refund.repository.js';

let processor: Processor;
let acquirer: Acquirer;
let backOffice: RefundClient;
const merchantId = 90_000;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = processor.acquirer;
  backOffice = await createRefundClient(processor, { merchantId });
});
afterEach(() => processor.stop());

const createPaidPayment = async (card: string = CARDS.approved): Promise<string> =>
  (await processor.pay(buildPayable({ merchantId }), { card })).paymentReference;

/**
 * Starts a call to refund, and resolves when the refund is pending and the call has queried the bank once. From then on
 * the call only reads the refund: another query would lock the row, and the job skips locked rows.
 */
async function startPendingRefund(paymentReference: string, key: string = randomUUID()) {
  const firstQuery = jest.spyOn(processor.service.app.get(RecoverRefunds), 'recover');
  const response = backOffice.refund(paymentReference, { amount: 100 }, key);
  await waitUntil('the first query about the refund', 5_000, () => Promise.resolve(firstQuery.mock.calls.length > 0));
  jest.spyOn(processor.service.app.get(RefundRepository), 'leaseForPoll').mockResolvedValue(undefined);
  await firstQuery.mock.results[0]!.value;
  return {
    /** Advances the clock by 20 s, so that the client gets a response with the current state. */
    responseAtDeadline: () => {
      processor.clock.advance(20_000);
      return response;
    },
    response,
  };
}

test('if the response of the bank is lost, the bank is queried while the client waits', async () => {
  const payment = await createPaidPayment(CARDS.refundResponseLost);
  expect(await backOffice.refund(payment)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
  expect((await expectConsistentRecords(processor, payment)).bank).toHaveLength(1);
});

test('if the bank has not decided after 20 s, the client gets a 202, and the refund ends later', async () => {
  const payment = await createPaidPayment();
  const querySpy = jest.spyOn(acquirer, 'getRefundStatus').mockResolvedValue({ kind: 'pending' });
  jest.spyOn(acquirer, 'refund').mockResolvedValueOnce({ kind: 'pending' });
  const key = randomUUID();
  const pending = await (await startPendingRefund(payment, key)).responseAtDeadline();
  expect(pending).toMatchObject({ status: 202, body: { status: 'pending' } });
  expect(await readRefundRecords(processor, payment)).toMatchObject({
    pending: 100,
    refunded: 0,
    events: 0,
    ledger: [],
  });

  // The pending refund reserves its amount.
  const tooLarge = await backOffice.refund(payment, { amount: 12_246 });
  expect([tooLarge.status, tooLarge.body.detail]).toEqual([
    422,
    'The refund is more than what is left of this payment: 12245 cents (R 122.45). Pending refunds reserve 100 cents (R 1.00).',
  ]);
  querySpy.mockRestore();
  await processor.recoverRefunds();
  expect(await backOffice.refund(payment, { amount: 100 }, key)).toMatchObject({
    status: 200,
    body: { ...pending.body, status: 'succeeded' },
  });
  await expectConsistentRecords(processor, payment);
});

test('the bank is queried about a pending refund until the bank has decided', async () => {
  const payment = await createPaidPayment(CARDS.refundPending);
  const { response } = await startPendingRefund(payment);
  processor.clock.advance(2_000);
  await processor.recoverRefunds();
  expect(await response).toMatchObject({ status: 201, body: { status: 'succeeded' } });
  await expectConsistentRecords(processor, payment);
});

test('a bank that does not respond is queried after 2 s, 10 s, 1 min, 5 min and then every 5 min; the refund is pending until the bank responds', async () => {
  const payment = await createPaidPayment();
  const queryTimes: number[] = [];
  const startedAt = processor.clock.now().getTime();
  jest.spyOn(acquirer, 'refund').mockResolvedValue({ kind: 'unknown' });
  jest.spyOn(acquirer, 'getRefundStatus').mockImplementation(() => {
    queryTimes.push((processor.clock.now().getTime() - startedAt) / 1_000);
    return Promise.resolve({ kind: 'unknown' });
  });
  const pendingRefund = await startPendingRefund(payment);
  const step = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      processor.clock.advance(1_000);
      await processor.recoverRefunds();
    }
  };
  await step(20);
  expect((await pendingRefund.response).status).toBe(202);
  await step(1_180);
  // The client's call queries at once, the job at the other times.
  expect(queryTimes).toEqual([0, 2, 10, 60, 300, 600, 900, 1_200]);
  expect(await readRefundRecords(processor, payment)).toMatchObject({
    pending: 100,
    refunds: [{ state: 'pending' }],
    events: 0,
  });
  jest.restoreAllMocks();
  for (let minute = 0; minute < 6; minute++) {
    processor.clock.advance(60_000);
    await processor.recoverRefunds();
  }
  expect((await expectConsistentRecords(processor, payment)).bank).toHaveLength(1);
});

test('a refund that did not reach the bank is resent with its key, but only after its first call has ended', async () => {
  const payment = await createPaidPayment();
  const refund = jest.spyOn(acquirer, 'refund').mockResolvedValue({ kind: 'unknown' });
  const pendingRefund = await startPendingRefund(payment);
  processor.clock.advance(9_999);
  await processor.recoverRefunds();
  expect(refund).toHaveBeenCalledTimes(1);
  const [{ idempotencyKey }] = refund.mock.calls[0]!;
  refund.mockRestore();
  processor.clock.advance(1);
  await processor.recoverRefunds();
  expect(await pendingRefund.response).toMatchObject({ status: 201, body: { refundReference: idempotencyKey } });
  expect((await expectConsistentRecords(processor, payment)).bank).toHaveLength(1);
});

test('if the first call of a resent refund arrives late, the bank refunds only once', async () => {
  const payment = await createPaidPayment();
  const originalRefund = acquirer.refund.bind(acquirer);
  const delayedCalls: Parameters<Acquirer['refund']>[] = [];
  const refund = jest.spyOn(acquirer, 'refund').mockImplementationOnce((...args) => {
    delayedCalls.push(args);
    return Promise.resolve({ kind: 'unknown' });
  });
  const pendingRefund = await startPendingRefund(payment);
  processor.clock.advance(10_000);
  await processor.recoverRefunds();
  expect((await pendingRefund.response).status).toBe(201);
  refund.mockRestore();
  expect(await originalRefund(delayedCalls[0]![0], new AbortController().signal)).toMatchObject({ kind: 'succeeded' });
  expect((await expectConsistentRecords(processor, payment)).bank).toHaveLength(1);
});

test('only one of three concurrent jobs queries a refund', async () => {
  const payment = await createPaidPayment();
  const refund = jest.spyOn(acquirer, 'refund').mockResolvedValue({ kind: 'unknown' });
  const querySpy = jest.spyOn(acquirer, 'getRefundStatus').mockResolvedValue({ kind: 'unknown' });
  const pendingRefund = await startPendingRefund(payment);
  processor.clock.advance(2_000);
  const recoveredCounts = await Promise.all([
    processor.recoverRefunds(),
    processor.recoverRefunds(),
    processor.recoverRefunds(),
  ]);
  expect(recoveredCounts.toSorted()).toEqual([0, 0, 1]);
  await pendingRefund.responseAtDeadline();
  refund.mockRestore();
  querySpy.mockRestore();
  processor.clock.advance(600_000);
  await processor.recoverRefunds();
  await expectConsistentRecords(processor, payment);
});

test('a response that contradicts an ended refund is recorded as an incident and changes nothing', async () => {
  const payment = await createPaidPayment(CARDS.refundDeclined);
  jest.spyOn(acquirer, 'refund').mockResolvedValueOnce({ kind: 'unknown' });
  jest.spyOn(acquirer, 'getRefundStatus').mockResolvedValueOnce({ kind: 'unknown' });
  const refunds = processor.service.app.get(RefundRepository);
  const pendingRefund = await startPendingRefund(payment);
  processor.clock.advance(2_000);
  const [refund] = await refunds.leaseDue('simulated', processor.clock.later(30_000), 10);
  await refunds.settle(refund!, { kind: 'declined', acquirerReference: 'r-1' });
  const before = await readRefundRecords(processor, payment);
  for (let time = 0; time < 2; time++)
    expect(await refunds.settle(refund!, { kind: 'succeeded', acquirerReference: 'r-2' })).toMatchObject({
      kind: 'incident',
    });
  expect(await refunds.settle(refund!, { kind: 'declined', acquirerReference: 'r-1' })).toMatchObject({ kind: 'none' });
  expect(await readRefundRecords(processor, payment)).toEqual(before);
  expect(before).toMatchObject({ refunds: [{ state: 'failed' }], ledger: [], pending: 0, events: 1 });
  const incidents = await processor.dataSource.query(
    `SELECT refund_state, response, acquirer_reference, occurrences FROM refund_incidents WHERE refund_id = $1`,
    [refund!.refundId],
  );
  expect(incidents).toEqual([
    { refund_state: 'failed', response: 'succeeded', acquirer_reference: 'r-2', occurrences: 2 },
  ]);
  expect((await pendingRefund.response).body).toMatchObject({ status: 'failed' });
});

test('the final state of a refund is published once, even if several processes record it concurrently', async () => {
  const payment = await createPaidPayment();
  jest.spyOn(acquirer, 'refund').mockResolvedValueOnce({ kind: 'unknown' });
  jest.spyOn(acquirer, 'getRefundStatus').mockResolvedValueOnce({ kind: 'unknown' });
  const pendingRefund = await startPendingRefund(payment);
  const refunds = processor.service.app.get(RefundRepository);
  processor.clock.advance(2_000);
  const [refund] = await refunds.leaseDue('simulated', processor.clock.later(30_000), 10);
  const results = await Promise.all(
    Array.from({ length: 8 }, () => refunds.settle(refund!, { kind: 'succeeded', acquirerReference: 'r-1' })),
  );
  expect(results.map(({ kind }) => kind).toSorted()).toEqual(['end', ...Array<string>(7).fill('none')]);
  expect((await pendingRefund.response).body).toMatchObject({ status: 'succeeded' });
  const events = await processor.published(RefundSucceededV1);
  expect(events.filter(({ aggregateId }) => aggregateId === refund!.refundId)).toHaveLength(1);
  expect(await readRefundRecords(processor, payment)).toMatchObject({
    refunded: 100,
    pending: 0,
    ledger: [{ amount: 100 }],
  });
});
