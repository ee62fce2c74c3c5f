/** Tests outcomes that one statement records together. No outcome changes the payment of another attempt. */
import { randomUUID } from 'node:crypto';
import { sqlState } from '@svc/persistence';
import { changeRow, createOpenAttempt, readPaymentRows } from '../../test/attempts/open-attempt.js';
import {
  APPROVED,
  DECLINED,
  holdSettlements,
  spyOnStatements,
  startReplica,
  type TestReplica,
} from '../../test/attempts/shared-statements.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { type AttemptEnd, attemptEndFor, type AttemptState, CHARGEABLE_STATES } from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';

let processor: Processor;
let replica: TestReplica;
beforeAll(async () => {
  processor = await startProcessor();
  replica = await startReplica(processor);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await replica.stop();
  await processor.stop();
});

const UNTRANSLATABLE_CHARACTER = '22P05';
const INVALID_INDEX = 4;

const REVERSED = attemptEndFor({ kind: 'reversed' });
const CHALLENGE = { reference: 'c-1', url: 'https://bank.example/c-1' };
const settle = (openAttempt: OpenAttempt, end: AttemptEnd, from: readonly AttemptState[] = CHARGEABLE_STATES) =>
  replica.payments.settle(openAttempt, end, from);
const readAllRows = (attempts: readonly OpenAttempt[]) =>
  Promise.all(attempts.map(({ paymentId }) => readPaymentRows(processor, paymentId)));

async function createReversingAttempt(): Promise<OpenAttempt> {
  const openAttempt = await createOpenAttempt(processor);
  const repository = processor.service.app.get(AttemptRepository);
  expect(await repository.beginReversal(undefined, openAttempt, processor.clock.later(30_000))).toBe(true);
  return openAttempt;
}

test('each payment is settled by the response to its attempt, unless payment, payable or attempt has changed in the meantime', async () => {
  const expectedSettlements: [OpenAttempt, AttemptEnd, AttemptState[], object][] = [
    [await createOpenAttempt(processor), APPROVED, ['started'], { payment: 'success', payable: 'paid', transfers: 1 }],
    [await createOpenAttempt(processor), DECLINED, ['started'], { payment: 'failed', payable: 'open', transfers: 0 }],
    [await createReversingAttempt(), REVERSED, ['reversing'], { payment: 'failed', payable: 'open', transfers: 0 }],
    [await createOpenAttempt(processor), APPROVED, ['started'], { payment: 'success', payable: 'paid', transfers: 1 }],
  ];
  const changedAttempts: OpenAttempt[] = [await createReversingAttempt()];
  for (const change of [
    `UPDATE attempts SET state = 'declined', ended_at = started_at, next_query_at = NULL WHERE payment_id = $1`,
    `UPDATE payments SET state = 'verificationRequired' WHERE payment_id = $1`,
    `UPDATE payables SET holder = gen_random_uuid() WHERE holder = $1`,
    `UPDATE payables SET version = version + 1 WHERE holder = $1`,
    `UPDATE payables SET version = version - 1 WHERE holder = $1`,
  ]) {
    const openAttempt = await createOpenAttempt(processor);
    await changeRow(processor, change, openAttempt.paymentId);
    changedAttempts.push(openAttempt);
  }
  const attemptWithUnknownId = await createOpenAttempt(processor);
  const before = await readAllRows([...changedAttempts, attemptWithUnknownId]);

  await using held = await holdSettlements(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const rejections = changedAttempts.map((openAttempt) => settle(openAttempt, APPROVED));
  const settlements = expectedSettlements.map(([openAttempt, end, from]) => settle(openAttempt, end, from));
  rejections.push(settle({ ...attemptWithUnknownId, attemptId: randomUUID() }, APPROVED));
  await held.release();

  expect(await Promise.all(rejections)).toEqual(rejections.map(() => undefined));
  expect(await readAllRows([...changedAttempts, attemptWithUnknownId])).toEqual(before);
  const payments = await Promise.all(settlements);
  for (const [index, [openAttempt, end, , facts]] of expectedSettlements.entries()) {
    expect(payments[index]).toMatchObject({
      paymentReference: openAttempt.payment.paymentReference,
      state: end.settlement.state,
    });
    expect(await replica.payments.find(openAttempt.payment.payable.payableId, openAttempt.payment.reference)).toEqual(
      payments[index],
    );
    expect(await readPaymentRows(processor, openAttempt.paymentId)).toMatchObject({
      ...facts,
      paymentVersion: 2,
      payableVersion: 3,
      attempts: [end.state],
      events: 2,
    });
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT a.acquirer_reference AS reference, e.payload, e.aggregate_version AS version
         FROM attempts a JOIN event_log e ON e.aggregate_id = a.payment_id::text AND e.aggregate_version = 2
        WHERE a.attempt_id = $1`,
      [openAttempt.attemptId],
    );
    expect(row).toEqual({ reference: end.acquirerReference ?? null, payload: payments[index], version: 2 });
  }
  expect(statements.batches().map((ids) => ids.length)).toEqual([expectedSettlements.length + rejections.length]);
});

test('if one of nine rows is invalid, only the payment of that row is not settled', async () => {
  const attempts = await Promise.all(Array.from({ length: 9 }, () => createOpenAttempt(processor)));
  await using held = await holdSettlements(processor, replica.payments);
  const settlements = attempts.map((openAttempt, index) =>
    // PostgreSQL rejects text that contains this character.
    settle(index === INVALID_INDEX ? { ...openAttempt, acquirer: 'x\u0000' } : openAttempt, APPROVED).catch(sqlState),
  );
  await held.release();
  const results = await Promise.all(settlements);
  expect(results.map((result) => (typeof result === 'string' ? result : result?.state))).toEqual(
    attempts.map((_, index) => (index === INVALID_INDEX ? UNTRANSLATABLE_CHARACTER : 'success')),
  );
  expect((await readAllRows(attempts)).map(({ payment, transfers, events }) => [payment, transfers, events])).toEqual(
    attempts.map((_, index) => (index === INVALID_INDEX ? ['processing', 0, 1] : ['success', 1, 2])),
  );
});

test('the settlement of a payment that requires a verification does not wait for a batch', async () => {
  const attempt = await createOpenAttempt(processor);
  await using held = await holdSettlements(processor, replica.payments);
  const end = attemptEndFor({ kind: 'verificationRequired', challenge: CHALLENGE });
  expect(await settle(attempt, end)).toMatchObject({ state: 'verificationRequired', verificationUrl: CHALLENGE.url });
  await held.release();
  const [facts] = await readAllRows([attempt]);
  expect(facts).toMatchObject({ payment: 'verificationRequired', payable: 'open', verificationOpen: true, events: 2 });
});

test('payments with and without vouchers can share a statement, and each has its own transfers', async () => {
  const [attemptWithVouchers, attemptWithoutVouchers] = [
    await createOpenAttempt(processor),
    await createOpenAttempt(processor),
  ];
  await changeRow(
    processor,
    `UPDATE payments SET voucher_amount = 345, partner = '{}' WHERE payment_id = $1`,
    attemptWithVouchers.paymentId,
  );
  const vouchers = [{ merchantLiable: false, amount: 345 }] as unknown as OpenAttempt['payment']['vouchers'];
  const attemptToSettle = { ...attemptWithVouchers, payment: { ...attemptWithVouchers.payment, vouchers } };
  await using held = await holdSettlements(processor, replica.payments);
  const settled = [settle(attemptToSettle as OpenAttempt, APPROVED), settle(attemptWithoutVouchers, APPROVED)];
  await held.release();
  expect(await Promise.all(settled)).toMatchObject([{ processedAmount: 12_000 }, { processedAmount: 12_345 }]);
  const [rowsWithVouchers, rowsWithoutVouchers] = await readAllRows([attemptWithVouchers, attemptWithoutVouchers]);
  expect(rowsWithVouchers).toMatchObject({ payment: 'success', payable: 'paid', transfers: 2, events: 2 });
  expect(rowsWithoutVouchers).toMatchObject({ payment: 'success', payable: 'paid', transfers: 1, events: 2 });
});
