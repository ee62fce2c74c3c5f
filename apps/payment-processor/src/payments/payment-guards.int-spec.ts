/**
 * Tests each condition of the statements that accept payments, settle payments and lease attempts. In each test exactly
 * one condition is false.
 */
import { randomUUID } from 'node:crypto';
import { SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { acceptPayment, changeRow, createOpenAttempt, readPaymentRows } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { findRefusal } from '../payables/payable.js';
import { PayableRepository } from '../payables/payable.repository.js';
import { attemptEndFor, CHARGEABLE_STATES } from './attempt.js';
import { AttemptRepository } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';

let processor: Processor;
let payments: PaymentRepository;
let attempts: AttemptRepository;
beforeAll(async () => {
  processor = await startProcessor();
  payments = processor.service.app.get(PaymentRepository);
  attempts = processor.service.app.get(AttemptRepository);
});
afterAll(() => processor.stop());

const APPROVED = attemptEndFor({ kind: 'approved', acquirerReference: 'a-1' });
const attemptIds = (attempts: readonly { attemptId: string }[]): string[] =>
  attempts.map(({ attemptId }) => attemptId).sort();

describe('a payment', () => {
  const readPayable = async (payableId: string): Promise<unknown> =>
    (await processor.dataSource.query<unknown[]>(`SELECT * FROM payables WHERE payable_id = $1`, [payableId]))[0];

  /**
   * The refusal by `payable.ts` for the same payable. This refusal must be consistent with the SQL statement in every
   * case.
   */
  const findCurrentRefusal = async (payable: ReturnType<typeof buildPayable>, nth: number) => {
    const current = await processor.service.app.get(PayableRepository).find(payable.payableId);
    const request = { ...payable, expiresAt: new Date(payable.expiresAt), paymentNumber: nth };
    return findRefusal(current, request, processor.clock.now());
  };

  test.each([
    ['is closed', `state = 'closed'`, 1],
    ['expires now', `expires_at = '2026-03-01T10:00:00.000Z'`, 1],
    ['has already had this payment', `payment_count = 1`, 1],
    ['has not had the previous payment', `payment_count = 0`, 2],
    ['has no payment left', `payment_count = max_payments`, 6],
    ['is in the other mode', `mode = 'live'`, 1],
    ['belongs to another merchant', `merchant_id = 1002`, 1],
    ['belongs to another site', `site_id = 5002`, 1],
    ['has another amount', `amount = 12344`, 1],
    ['has another currency', `currency = 'NAD'`, 1],
  ])('is not accepted if the payable %s', async (_, change, nth) => {
    const payable = buildPayable();
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
    await changeRow(processor, `UPDATE payables SET ${change} WHERE payable_id = $1`, payable.payableId);
    const before = await readPayable(payable.payableId);
    expect(await acceptPayment(processor, payable, nth)).toBeUndefined();
    expect(await readPayable(payable.payableId)).toEqual(before);
    expect(await findCurrentRefusal(payable, nth)).toBeDefined();
  });

  test.each([
    ['expires now', buildPayable({ expiresAt: '2026-03-01T10:00:00.000Z' }), 1],
    ['the request has the number of a second payment', buildPayable(), 2],
  ])('is not accepted if the payable is not stored and %s', async (_, payable, nth) => {
    expect(await acceptPayment(processor, payable, nth)).toBeUndefined();
    expect(await readPayable(payable.payableId)).toBeUndefined();
    expect(await findCurrentRefusal(payable, nth)).toBeDefined();
  });

  test('is accepted one millisecond before the expiry of its payable, even as the last payment', async () => {
    const payable = buildPayable({ expiresAt: '2026-03-01T10:00:00.001Z' });
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
    await changeRow(processor, `UPDATE payables SET payment_count = 4 WHERE payable_id = $1`, payable.payableId);
    expect(await findCurrentRefusal(payable, 5)).toBeUndefined();
    expect(await acceptPayment(processor, payable, 5)).toMatchObject({
      payment: { payable: { version: 2, paymentCount: 5 } },
    });
  });
});

describe('an outcome', () => {
  test.each([
    [
      'when its attempt has ended',
      `UPDATE attempts SET state = 'declined', ended_at = started_at, next_query_at = NULL WHERE payment_id = $1`,
    ],
    [
      'when its payment waits for a verification',
      `UPDATE payments SET state = 'verificationRequired' WHERE payment_id = $1`,
    ],
    [
      'when another payment has reserved the payable',
      `UPDATE payables SET holder = gen_random_uuid() WHERE holder = $1`,
    ],
    ['when the payable has changed', `UPDATE payables SET version = version + 1 WHERE holder = $1`],
    ['when the payable has an earlier version', `UPDATE payables SET version = version - 1 WHERE holder = $1`],
  ])('changes nothing %s', async (_, statement) => {
    const attempt = await createOpenAttempt(processor);
    await changeRow(processor, statement, attempt.paymentId);
    const before = await readPaymentRows(processor, attempt.paymentId);
    expect(await payments.settle(attempt, APPROVED, CHARGEABLE_STATES)).toBeUndefined();
    expect(await readPaymentRows(processor, attempt.paymentId)).toEqual(before);
  });

  test('changes nothing if its attempt is unknown, and changes no other payment', async () => {
    const [attempt, otherAttempt] = [await createOpenAttempt(processor), await createOpenAttempt(processor)];
    const before = await readPaymentRows(processor, otherAttempt.paymentId);
    expect(await payments.settle({ ...attempt, attemptId: randomUUID() }, APPROVED, CHARGEABLE_STATES)).toBeUndefined();
    expect(await payments.settle(attempt, APPROVED, CHARGEABLE_STATES)).toMatchObject({ state: 'success' });
    expect(await readPaymentRows(processor, otherAttempt.paymentId)).toEqual(before);
  });

  test('changes nothing if it is repeated', async () => {
    const attempt = await createOpenAttempt(processor);
    expect(await payments.settle(attempt, APPROVED, CHARGEABLE_STATES)).toMatchObject({ state: 'success' });
    const before = await readPaymentRows(processor, attempt.paymentId);
    expect(before).toMatchObject({ payment: 'success', payable: 'paid', transfers: 1, events: 2 });
    expect(await payments.settle(attempt, APPROVED, CHARGEABLE_STATES)).toBeUndefined();
    expect(await readPaymentRows(processor, attempt.paymentId)).toEqual(before);
  });
});

test('only an attempt without an outcome becomes unknown', async () => {
  const [attempt, ended, otherAttempt] = [
    await createOpenAttempt(processor),
    await createOpenAttempt(processor),
    await createOpenAttempt(processor),
  ];
  await payments.settle(ended, APPROVED, CHARGEABLE_STATES);
  const nextQueryAt = processor.clock.later(60_000);
  for (const { attemptId } of [attempt, ended, attempt]) await attempts.markUnknown(attemptId, nextQueryAt);
  const states = await Promise.all(
    [attempt, ended, otherAttempt].map(({ paymentId }) => readPaymentRows(processor, paymentId)),
  );
  expect(states.map((facts) => facts['attempts'])).toEqual([['unknown'], ['approved'], ['started']]);
});

describe('the decision to reverse a charge and the lease of a call to the acquirer', () => {
  const OPEN = `next_query_at = started_at + interval '1 hour'`;
  const ENDED = `next_query_at = NULL, ended_at = started_at`;
  const readAttemptStates = async ({ paymentId }: { paymentId: string }) =>
    (await readPaymentRows(processor, paymentId))['attempts'];
  const decideToReverse = (attempt: Parameters<typeof attempts.beginReversal>[1]) =>
    attempts.beginReversal(undefined, attempt, processor.clock.later(30_000));

  test.each([
    ['started', OPEN, true],
    ['unknown', OPEN, true],
    ['reversing', OPEN, false],
    ['approved', ENDED, false],
    ['declined', ENDED, false],
    ['notAttempted', ENDED, false],
  ])('are possible for an attempt in the state %s with the columns %s: %s', async (state, columns, isAllowed) => {
    for (const operation of [
      decideToReverse,
      (attempt: Parameters<typeof decideToReverse>[0]) => attempts.leaseForCall(attempt),
    ]) {
      const [attempt, otherAttempt] = [await createOpenAttempt(processor), await createOpenAttempt(processor)];
      if (state !== 'started')
        await changeRow(
          processor,
          `UPDATE attempts SET state = '${state}', ${columns} WHERE payment_id = $1`,
          attempt.paymentId,
        );
      expect(await operation(attempt)).toBe(isAllowed);
      expect(await readAttemptStates(attempt)).toEqual([
        isAllowed && operation === decideToReverse ? 'reversing' : state,
      ]);
      expect(await readAttemptStates(otherAttempt)).toEqual(['started']);
    }
  });

  test('exclude each other: an attempt is not reversed if a call has been leased since the attempt was read', async () => {
    const attempt = await createOpenAttempt(processor);
    processor.clock.advance(10_000);
    expect(await attempts.leaseForCall(attempt)).toBe(true);
    expect(await decideToReverse(attempt)).toBe(false);
    expect(await readAttemptStates(attempt)).toEqual(['started']);
    expect(await decideToReverse({ ...attempt, startedAt: processor.clock.now() })).toBe(true);
    processor.clock.advance(-10_000);
  });
});

describe('attempts without an outcome', () => {
  const leaseDueIds = async (leaseMs = 30_000, limit = 50) =>
    attemptIds(await attempts.leaseDue('simulated', processor.clock.later(leaseMs), limit));
  beforeEach(async () => {
    // Leases the attempts of earlier tests for a year, so that they are not due in this test.
    processor.clock.advance(3_600_000);
    await attempts.leaseDue('simulated', processor.clock.later(86_400_000 * 365), 1_000);
  });
  const createAttempt = () => createOpenAttempt(processor, buildPayable({ expiresAt: '2999-01-01T00:00:00.000Z' }));

  test('are leased when they are due, and again only after the lease has expired', async () => {
    const { attemptId } = await createAttempt();
    processor.clock.advance(1_999);
    expect(await leaseDueIds()).toEqual([]);
    processor.clock.advance(1);
    expect(await leaseDueIds()).toEqual([attemptId]);
    processor.clock.advance(29_999);
    expect(await leaseDueIds()).toEqual([]);
    processor.clock.advance(1);
    expect(await leaseDueIds()).toEqual([attemptId]);
  });

  test('are leased together with their own payments', async () => {
    const createdAttempts = [await createAttempt(), await createAttempt(), await createAttempt()];
    processor.clock.advance(2_000);
    const leased = await attempts.leaseDue('simulated', processor.clock.later(30_000), 50);
    const listIds = (attempts: typeof leased) =>
      attempts.map(({ attemptId, paymentId, payment }) => [attemptId, paymentId, payment.payable.payableId]).sort();
    expect(listIds(leased)).toEqual(listIds(createdAttempts));
  });

  test('are leased for a polling client together with their own payables', async () => {
    for (const { attemptId, payment } of [await createAttempt(), await createAttempt(), await createAttempt()]) {
      await attempts.markUnknown(attemptId, processor.clock.later(60_000));
      const { payableId } = payment.payable;
      const leased = await attempts.leaseUnresolved(payableId, processor.clock.later(-1_000));
      expect(leased.map((lease) => [lease.attemptId, lease.payment.payable.payableId])).toEqual([
        [attemptId, payableId],
      ]);
    }
  });

  test('are leased for a polling client at most once a second, and only in the states unknown and reversing', async () => {
    const [unknownAttempt, otherAttempt, started] = [
      await createAttempt(),
      await createAttempt(),
      await createAttempt(),
    ];
    for (const { attemptId } of [unknownAttempt, otherAttempt])
      await attempts.markUnknown(attemptId, processor.clock.later(60_000));
    const leaseForPoll = async ({ payment }: typeof unknownAttempt) =>
      attemptIds(await attempts.leaseUnresolved(payment.payable.payableId, processor.clock.later(-1_000)));
    expect(await leaseForPoll(unknownAttempt)).toEqual([unknownAttempt.attemptId]);
    processor.clock.advance(999);
    expect(await leaseForPoll(unknownAttempt)).toEqual([]);
    processor.clock.advance(1);
    expect(await leaseForPoll(unknownAttempt)).toEqual([unknownAttempt.attemptId]);
    expect(await leaseForPoll(started)).toEqual([]);
    await attempts.beginReversal(undefined, started, processor.clock.later(60_000));
    expect(await leaseForPoll(started)).toEqual([started.attemptId]);
    await changeRow(
      processor,
      `UPDATE payments SET state = 'verificationRequired' WHERE payment_id = $1`,
      otherAttempt.paymentId,
    );
    expect(await leaseForPoll(otherAttempt)).toEqual([]);
  });
});

test('the same reference for another payable creates another payment', async () => {
  const reference = randomUUID();
  const payables = [buildPayable(), buildPayable()].map((payable) => ({
    ...payable,
    expiresAt: '2999-01-01T00:00:00.000Z',
  }));
  const attempts = await Promise.all(payables.map((payable) => acceptPayment(processor, payable, 1, reference)));
  const accepted = attempts.map((attempt) => attempt!.payment.paymentReference);
  expect(new Set(accepted).size).toBe(2);
  for (const [index, { payableId }] of payables.entries()) {
    const paymentReference = accepted[index];
    expect(await payments.find(payableId, reference)).toMatchObject({ paymentReference });
    expect(await payments.find(payableId, randomUUID())).toBeUndefined();
    expect((await payments.findAll(payableId)).map((payment) => payment.paymentReference)).toEqual([paymentReference]);
  }
});

test('a second payment is accepted with the reference of a payment for another payable', async () => {
  const buildLongPayable = () => buildPayable({ expiresAt: '2999-01-01T00:00:00.000Z' });
  const [otherAttempt, payable] = [await createOpenAttempt(processor, buildLongPayable()), buildLongPayable()];
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  await changeRow(processor, `UPDATE payables SET payment_count = 1 WHERE payable_id = $1`, payable.payableId);
  expect(await acceptPayment(processor, payable, 2, otherAttempt.payment.reference)).toMatchObject({
    payment: { payable: { payableId: payable.payableId, paymentCount: 2 } },
  });
});
