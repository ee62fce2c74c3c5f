import { randomUUID } from 'node:crypto';
import { PaymentReversedV1 } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { SeparateAcquirer } from '../../test/acquirers/separate-acquirer.js';
import { readLedger } from '../../test/books/ledger.js';
import { buildPayable } from '../../test/builders.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { RecoverRefunds } from '../refunds/recover-refunds.js';
import { RefundRepository } from '../refunds/refund.repository.js';
import { CAPTURE_TRANSITIONS } from './capture.js';
import { CaptureRepository } from './capture.repository.js';

let processor: Processor;
let acquirer: SeparateAcquirer;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = new SeparateAcquirer(processor);
});
afterEach(() => processor.stop());

const readCapture = async ({ paymentReference }: { paymentReference: string }): Promise<unknown> => {
  const [row] = await processor.dataSource.query<unknown[]>(
    `SELECT c.state, c.requests, c.amount, c.acquirer_reference AS reference
       FROM captures c JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
    [paymentReference],
  );
  return row;
};
/** Stores the fees of the merchant before the first payment, as its event does. */
const setFees = () =>
  processor.superuser.query(
    `INSERT INTO known_merchants (merchant_id, name, features, grants, minimum_amount, fees, version)
     VALUES (1001, 'Karoo Books', '{}', '[]', 100, '{"test": {"basisPoints": 285, "fixedAmount": 199}}', 0)`,
  );

test('a success commits its capture, which is requested once with the terms of the charge', async () => {
  const payment = await processor.pay(buildPayable());
  expect(payment.state).toBe('success');
  expect(await readCapture(payment)).toEqual({ state: 'due', requests: 0, amount: 12_345, reference: null });
  expect(await acquirer.requestCaptures()).toBe(1);
  expect(acquirer.captures).toEqual([
    {
      account: { mode: 'test', accountReference: 'merchant-1001' },
      chargeKey: expect.any(String),
      keyNumber: 1,
      chargeReference: expect.any(String),
      paymentReference: payment.paymentReference,
      amount: 12_345,
      currencyISOCode: 'ZAR',
    },
  ]);
  expect(await readCapture(payment)).toMatchObject({ state: 'requested', requests: 1, reference: 'capture-1' });
  expect(await acquirer.requestCaptures()).toBe(0);

  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' })).toBe('applied');
  expect(await readCapture(payment)).toMatchObject({ state: 'captured' });
  processor.clock.advance(86_400_000);
  expect(await acquirer.requestCaptures()).toBe(0);
});

test('a bank that captures with the charge has no capture, and a declined payment has none', async () => {
  await processor.pay(buildPayable(), { card: '4000000000000002' });
  Object.assign(acquirer.acquirer, { capturesSeparately: false });
  await processor.pay(buildPayable());
  expect(await acquirer.requestCaptures()).toBe(0);
});

const readIncidents = async (): Promise<string[]> => {
  const rows = await processor.dataSource.query<{ response: string }[]>(
    `SELECT response FROM incidents WHERE attempt_state = 'approved' ORDER BY 1`,
  );
  return rows.map(({ response }) => response);
};
const keyNumbers = () => acquirer.capture.mock.calls.map(([{ keyNumber }]) => keyNumber);

test('a request that was not received is repeated under its key, and one that was answered without an outcome under the next key', async () => {
  const payment = await processor.pay(buildPayable());
  acquirer.capture
    .mockResolvedValueOnce({ kind: 'unknown' })
    .mockResolvedValueOnce({ kind: 'unknown', isAnswered: true })
    .mockResolvedValueOnce({ kind: 'rejected' });
  await acquirer.requestCaptures();
  expect(await acquirer.requestCaptures()).toBe(0);
  for (const delay of [1_000, 5_000, 3_600_000]) {
    processor.clock.advance(delay);
    expect(await acquirer.requestCaptures()).toBe(1);
  }
  expect(keyNumbers()).toEqual([1, 1, 2, 3]);
  expect(await readCapture(payment)).toMatchObject({ state: 'requested', requests: 4 });
  expect(await readIncidents()).toEqual(['captureRejected']);
});

test('a request that the acquirer does not receive for a day is an incident, and is still repeated', async () => {
  await processor.pay(buildPayable());
  acquirer.capture.mockResolvedValue({ kind: 'unknown' });
  await acquirer.requestCaptures();
  expect(await readIncidents()).toEqual([]);
  processor.clock.advance(86_400_000);
  await acquirer.requestCaptures();
  expect(await readIncidents()).toEqual(['captureUnconfirmed']);
  processor.clock.advance(300_000);
  expect(await acquirer.requestCaptures()).toBe(1);
});

test('a request that was received is not repeated, and is an incident when it has no outcome for a day', async () => {
  const payment = await processor.pay(buildPayable());
  await acquirer.requestCaptures();
  processor.clock.advance(86_399_000);
  expect(await acquirer.requestCaptures()).toBe(0);
  expect(await readIncidents()).toEqual([]);
  processor.clock.advance(1_000);
  expect(await acquirer.requestCaptures()).toBe(1);
  processor.clock.advance(86_399_000);
  expect(await acquirer.requestCaptures()).toBe(0);
  processor.clock.advance(1_000);
  expect(await acquirer.requestCaptures()).toBe(1);
  expect(acquirer.capture).toHaveBeenCalledTimes(1);
  expect(await readIncidents()).toEqual(['captureUnconfirmed']);
  expect(await readCapture(payment)).toMatchObject({ state: 'requested', requests: 1 });
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' })).toBe('applied');
});

test('only one of three concurrent jobs requests a capture, and another one continues when its lease has ended', async () => {
  await processor.pay(buildPayable());
  const counts = await Promise.all([1, 2, 3].map(() => acquirer.requestCaptures()));
  expect(counts.toSorted()).toEqual([0, 0, 1]);

  await processor.pay(buildPayable());
  const captures = processor.service.app.get(CaptureRepository);
  expect(await captures.leaseDue('simulated', processor.clock.later(30_000), 50)).toHaveLength(1);
  expect(await acquirer.requestCaptures()).toBe(0);
  processor.clock.advance(30_000);
  expect(await acquirer.requestCaptures()).toBe(1);
});

test('a response to a request changes nothing after the outcome was reported', async () => {
  const payment = await processor.pay(buildPayable());
  const captures = processor.service.app.get(CaptureRepository);
  const [capture] = await captures.leaseDue('simulated', processor.clock.later(30_000), 50);
  await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
  await captures.markRequested(capture!.attemptId, 'late', processor.clock.now());
  await captures.postpone(capture!.attemptId, processor.clock.now());
  expect(await readCapture(payment)).toEqual({
    state: 'captured',
    requests: 1,
    amount: 12_345,
    reference: 'capture-1',
  });
  expect(await captures.markCaptured(capture!.attemptId, 'late')).toBe(false);
});

test('a capture that fails, also days after it was captured, is booked back with its fee, notified once and recorded as an incident', async () => {
  await setFees();
  const payment = await processor.pay(buildPayable());
  await acquirer.requestCaptures();
  await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
  processor.clock.advance(2 * 86_400_000);
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' })).toBe('applied');
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' })).toBe('none');
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' })).toBe('none');

  const [bank, merchant, fees] = [
    'test:acquirer:simulated:receivable',
    'test:merchant:1001:payable',
    'test:service:fees',
  ];
  expect(await readLedger(processor, payment)).toEqual([
    { kind: 'capture', debit: bank, credit: merchant, amount: 12_345 },
    { kind: 'fee', debit: merchant, credit: fees, amount: 551 },
    { kind: 'reversal', debit: merchant, credit: bank, amount: 12_345 },
    { kind: 'feeReversal', debit: fees, credit: merchant, amount: 551 },
  ]);
  expect((await processor.published(PaymentReversedV1)).map(({ payload }) => payload)).toEqual([
    { ...payment, reversedUTCDate: processor.clock.nowISO(), captureFailed: true },
  ]);
  expect(await processor.dataSource.query(`SELECT response FROM incidents`)).toEqual([{ response: 'captureFailed' }]);
});

test('another capture that succeeds after the payment was booked back is an incident, although no response named the failed one', async () => {
  const payment = await processor.pay(buildPayable());
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' })).toBe('applied');
  expect(await readCapture(payment)).toMatchObject({ state: 'failed', reference: 'capture-1' });
  const captured = { kind: 'capture', outcome: 'captured', amount: 12_345, currencyISOCode: 'ZAR' } as const;
  // The older success of the failed capture itself.
  expect(await acquirer.reportPayment(payment, captured)).toBe('none');
  expect(await acquirer.reportPayment(payment, { ...captured, acquirerReference: 'capture-2' })).toBe('incident');
});

test('a report about another capture of the payment is an incident and changes nothing', async () => {
  const payment = await processor.pay(buildPayable());
  await acquirer.requestCaptures();
  const report = { kind: 'capture', outcome: 'failed', acquirerReference: 'another' } as const;
  expect(await acquirer.reportPayment(payment, report)).toBe('incident');
  expect(await acquirer.reportPayment(payment, { ...report, outcome: 'captured' })).toBe('incident');
  expect(await readCapture(payment)).toMatchObject({ state: 'requested' });
});

test('the table accepts exactly the transitions of CAPTURE_TRANSITIONS', async () => {
  const states = Object.keys(CAPTURE_TRANSITIONS);
  const allowed: string[] = [];
  for (const from of states)
    for (const to of states) {
      const { paymentReference } = await processor.pay(buildPayable());
      const set = (state: string) =>
        processor.dataSource.query(
          `UPDATE captures c SET state = $2, next_request_at = CASE WHEN $2 IN ('due', 'requested') THEN now() END,
                  ended_at = CASE WHEN $2 NOT IN ('due', 'requested') THEN now() END, failure = CASE WHEN $2 = 'failed' THEN 'cardScheme' END,
                  captured_at = CASE WHEN $2 = 'captured' THEN now() END
             FROM payments p WHERE p.payment_id = c.payment_id AND p.payment_reference = $1`,
          [paymentReference, state],
        );
      if (from !== 'due') await set(from);
      const isAllowed = await set(to).then(
        () => true,
        () => false,
      );
      if (isAllowed && from !== to) allowed.push(`${from} → ${to}`);
    }
  const listed = Object.entries(CAPTURE_TRANSITIONS).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
  expect(allowed.toSorted()).toEqual(listed.toSorted());
});

describe('a refund', () => {
  const merchantId = 1001;

  test('is sent only after the charge was captured, with the same key, and ends with the acquirer’s report', async () => {
    const payment = await processor.pay(buildPayable());
    const backOffice = await createRefundClient(processor, { merchantId });
    await backOfficeRefund(backOffice, payment.paymentReference);
    expect(acquirer.refunds).toEqual([]);
    await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
    processor.clock.advance(600_000);
    await processor.recoverRefunds();
    processor.clock.advance(600_000);
    await processor.recoverRefunds();
    expect(acquirer.refunds).toHaveLength(1);
    const { idempotencyKey: refundId } = acquirer.refunds[0]!;
    expect(await readRefund()).toEqual({ state: 'pending', reference: `refund ${refundId}` });
    expect(await acquirer.report({ kind: 'refund', refundId, outcome: 'succeeded' })).toBe('applied');
    expect(await readRefund()).toMatchObject({ state: 'succeeded' });
  });

  test('is sent at once when the capture is reported, always with the same key, and not before', async () => {
    const payment = await processor.pay(buildPayable());
    const backOffice = await createRefundClient(processor, { merchantId });
    const response = backOffice.refund(payment.paymentReference, { amount: 100 }, randomUUID());
    await waitUntil('the refund', 5_000, async () => (await readRefund())?.state === 'pending');
    processor.clock.advance(1);
    expect(await processor.recoverRefunds()).toBe(0);
    await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
    // The request that waits for the outcome may send the refund before the job does, and may stop waiting before that.
    await waitUntil('the refund at the acquirer', 5_000, async () => {
      await processor.recoverRefunds();
      return acquirer.refunds.length > 0;
    });
    // The request and the job may send it at the same moment, with the key with which the acquirer makes one refund of both.
    const [refundId, ...otherKeys] = new Set(acquirer.refunds.map(({ idempotencyKey }) => idempotencyKey));
    expect(otherKeys).toEqual([]);
    expect(await acquirer.report({ kind: 'refund', refundId: refundId!, outcome: 'succeeded' })).toBe('applied');
    // 202 if the outcome came after the request had stopped waiting.
    expect([201, 202]).toContain((await response).status);
    expect((await readRefund())?.state).toBe('succeeded');
  });

  test('is only woken if it waits, and is of this payment', async () => {
    const payments = [await processor.pay(buildPayable()), await processor.pay(buildPayable())];
    const backOffice = await createRefundClient(processor, { merchantId });
    for (const { paymentReference } of payments) await backOfficeRefund(backOffice, paymentReference);
    const [{ id }] = await processor.dataSource.query<[{ id: string }]>(
      `SELECT payment_id AS id FROM payments WHERE payment_reference = $1`,
      [payments[0]!.paymentReference],
    );
    const countDue = async (): Promise<number> => {
      const [row] = await processor.dataSource.query<[{ count: number }]>(
        `SELECT count(*)::int FROM refunds WHERE next_query_at <= $1`,
        [processor.clock.now()],
      );
      return row.count;
    };
    await processor.dataSource.query(`UPDATE refunds SET next_query_at = $1`, [processor.clock.later(1_000)]);
    const refunds = processor.service.app.get(RefundRepository);
    await refunds.wake(id);
    expect(await countDue()).toBe(1);
    await processor.dataSource.query(`UPDATE refunds SET next_query_at = $1, acquirer_reference = 'known'`, [
      processor.clock.later(1_000),
    ]);
    await refunds.wake(id);
    expect(await countDue()).toBe(0);
  });

  test('is not possible when the capture has failed, and one that is pending fails then', async () => {
    const payment = await processor.pay(buildPayable());
    const backOffice = await createRefundClient(processor, { merchantId });
    await backOfficeRefund(backOffice, payment.paymentReference);
    await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' });
    processor.clock.advance(600_000);
    await processor.recoverRefunds();
    const [{ id }] = await processor.dataSource.query<[{ id: string }]>(`SELECT refund_id AS id FROM refunds`);
    expect(await readRefund()).toEqual({ state: 'failed', reference: id });
    expect(acquirer.refunds).toEqual([]);
    const { status, body } = await backOffice.refund(payment.paymentReference, { amount: 1 });
    expect([status, (body as { errors?: { message: string }[] }).errors?.[0]?.message]).toEqual([
      422,
      'The card could not be charged, so there is no money to give back.',
    ]);
  });

  const readRefund = async () => {
    const [row] = await processor.dataSource.query<{ state: string; reference: string | null }[]>(
      `SELECT state, acquirer_reference AS reference FROM refunds`,
    );
    return row;
  };

  /** Requests a refund of one Rand, and lets its client time out. */
  async function backOfficeRefund(
    backOffice: Awaited<ReturnType<typeof createRefundClient>>,
    paymentReference: string,
  ): Promise<void> {
    const polls = jest.spyOn(processor.service.app.get(RecoverRefunds), 'recover');
    const response = backOffice.refund(paymentReference, { amount: 100 }, randomUUID());
    await waitUntil('the first query about the refund', 5_000, () => Promise.resolve(polls.mock.calls.length > 0));
    processor.clock.advance(20_000);
    expect((await response).status).toBe(202);
    polls.mockRestore();
  }
});
