/** Outcomes recorded in one statement: each changes its own payment, or nothing. */
import { randomUUID } from 'node:crypto';
import { sqlState } from '@svc/persistence';
import { anOpenAttempt, factsOf, tamper } from '../../test/attempts/open-attempt.js';
import {
  APPROVED,
  DECLINED,
  holdSettlements,
  type Replica,
  spyOnStatements,
  startReplica,
} from '../../test/attempts/shared-statements.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { type AttemptEnd, type AttemptState, CHARGEABLE_STATES, endOf } from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';

let processor: Processor;
let replica: Replica;
beforeAll(async () => {
  processor = await startProcessor();
  replica = await startReplica(processor);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await replica.stop();
  await processor.stop();
});

const REVERSED = endOf({ kind: 'reversed' });
const CHALLENGE = { reference: 'c-1', url: 'https://bank.example/c-1' };
const settle = (open: OpenAttempt, end: AttemptEnd, from: readonly AttemptState[] = CHARGEABLE_STATES) =>
  replica.payments.settle(open, end, from);
const factsOfAll = (all: readonly OpenAttempt[]) =>
  Promise.all(all.map(({ paymentId }) => factsOf(processor, paymentId)));

async function reversing(): Promise<OpenAttempt> {
  const open = await anOpenAttempt(processor);
  const attempts = processor.service.app.get(AttemptRepository);
  expect(await attempts.beginReversal(undefined, open, processor.clock.later(30_000))).toBe(true);
  return open;
}

test('each payment is settled by its own answer, except those that have changed meanwhile', async () => {
  const good: [OpenAttempt, AttemptEnd, AttemptState[], object][] = [
    [await anOpenAttempt(processor), APPROVED, ['started'], { payment: 'success', payable: 'paid', transfers: 1 }],
    [await anOpenAttempt(processor), DECLINED, ['started'], { payment: 'failed', payable: 'open', transfers: 0 }],
    [await reversing(), REVERSED, ['reversing'], { payment: 'failed', payable: 'open', transfers: 0 }],
    [await anOpenAttempt(processor), APPROVED, ['started'], { payment: 'success', payable: 'paid', transfers: 1 }],
  ];
  const changed: OpenAttempt[] = [await reversing()];
  for (const change of [
    `UPDATE attempts SET state = 'declined', ended_at = started_at, next_ask_at = NULL WHERE payment_id = $1`,
    `UPDATE payments SET state = 'verificationRequired' WHERE payment_id = $1`,
    `UPDATE payables SET holder = gen_random_uuid() WHERE holder = $1`,
    `UPDATE payables SET version = version + 1 WHERE holder = $1`,
    `UPDATE payables SET version = version - 1 WHERE holder = $1`,
  ]) {
    const open = await anOpenAttempt(processor);
    await tamper(processor, change, open.paymentId);
    changed.push(open);
  }
  const unknown = await anOpenAttempt(processor);
  const before = await factsOfAll([...changed, unknown]);

  const held = await holdSettlements(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const refusals = changed.map((open) => settle(open, APPROVED));
  const settlements = good.map(([open, end, from]) => settle(open, end, from));
  refusals.push(settle({ ...unknown, attemptId: randomUUID() }, APPROVED));
  await held.release();

  expect(await Promise.all(refusals)).toEqual(refusals.map(() => undefined));
  expect(await factsOfAll([...changed, unknown])).toEqual(before);
  const payments = await Promise.all(settlements);
  for (const [index, [open, end, , facts]] of good.entries()) {
    expect(payments[index]).toMatchObject({
      paymentReference: open.payment.paymentReference,
      state: end.settlement.state,
    });
    expect(await replica.payments.find(open.payment.payable.payableId, open.payment.reference)).toEqual(
      payments[index],
    );
    expect(await factsOf(processor, open.paymentId)).toMatchObject({
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
      [open.attemptId],
    );
    expect(row).toEqual({ reference: end.acquirerReference ?? null, payload: payments[index], version: 2 });
  }
  expect(statements.batches().map((ids) => ids.length)).toEqual([good.length + refusals.length]);
});

test('an invalid row among valid ones: only its payment is not settled', async () => {
  const all = await Promise.all(Array.from({ length: 9 }, () => anOpenAttempt(processor)));
  const held = await holdSettlements(processor, replica.payments);
  const settlements = all.map((open, index) =>
    // PostgreSQL rejects text with this character.
    settle(index === 4 ? { ...open, acquirer: 'x\u0000' } : open, APPROVED).catch(sqlState),
  );
  await held.release();
  const results = await Promise.all(settlements);
  expect(results.map((result) => (typeof result === 'string' ? result : result?.state))).toEqual(
    all.map((_, index) => (index === 4 ? '22P05' : 'success')),
  );
  expect((await factsOfAll(all)).map(({ payment, transfers, events }) => [payment, transfers, events])).toEqual(
    all.map((_, index) => (index === 4 ? ['processing', 0, 1] : ['success', 1, 2])),
  );
});

test('verifications do not wait for a batch', async () => {
  const verified = await anOpenAttempt(processor);
  const held = await holdSettlements(processor, replica.payments);
  const end = endOf({ kind: 'verificationRequired', challenge: CHALLENGE });
  expect(await settle(verified, end)).toMatchObject({ state: 'verificationRequired', verificationUrl: CHALLENGE.url });
  await held.release();
  const [facts] = await factsOfAll([verified]);
  expect(facts).toMatchObject({ payment: 'verificationRequired', payable: 'open', verificationOpen: true, events: 2 });
});

test('payments with and without vouchers share a statement, each with its own transfers', async () => {
  const [paid, other] = [await anOpenAttempt(processor), await anOpenAttempt(processor)];
  await tamper(
    processor,
    `UPDATE payments SET voucher_amount = 345, partner = '{}' WHERE payment_id = $1`,
    paid.paymentId,
  );
  const vouchers = [{ merchantLiable: false, amount: 345 }] as unknown as OpenAttempt['payment']['vouchers'];
  const withVouchers = { ...paid, payment: { ...paid.payment, vouchers } };
  const held = await holdSettlements(processor, replica.payments);
  const settled = [settle(withVouchers as OpenAttempt, APPROVED), settle(other, APPROVED)];
  await held.release();
  expect(await Promise.all(settled)).toMatchObject([{ processedAmount: 12_000 }, { processedAmount: 12_345 }]);
  const [ofPaid, ofOther] = await factsOfAll([paid, other]);
  expect(ofPaid).toMatchObject({ payment: 'success', payable: 'paid', transfers: 2, events: 2 });
  expect(ofOther).toMatchObject({ payment: 'success', payable: 'paid', transfers: 1, events: 2 });
});
