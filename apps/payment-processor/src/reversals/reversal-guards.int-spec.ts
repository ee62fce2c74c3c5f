import { PaymentReversedV1 } from '@svc/contracts';
import { changeRow, createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { AcquirerResponse } from '../payments/attempt.js';
import { AttemptRepository, type OpenAttempt } from '../payments/attempt.repository.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { ReversalRepository } from './reversal.repository.js';

let processor: Processor;
let reversals: ReversalRepository;
beforeEach(async () => {
  processor = await startProcessor();
  reversals = processor.service.app.get(ReversalRepository);
});
afterEach(() => processor.stop());

const settle = (attempt: OpenAttempt, response: AcquirerResponse) =>
  processor.service.app.get(SettleAttempt).execute(attempt, response);
async function createReversingAttempt(): Promise<OpenAttempt> {
  const attempt = await createOpenAttempt(processor);
  const attempts = processor.service.app.get(AttemptRepository);
  expect(await attempts.beginReversal(undefined, attempt, processor.clock.later(30_000))).toBe(true);
  return attempt;
}
async function createEndedAttempt(response: AcquirerResponse): Promise<OpenAttempt> {
  const attempt = response.kind === 'reversed' ? await createReversingAttempt() : await createOpenAttempt(processor);
  expect(await settle(attempt, response)).toBeDefined();
  return attempt;
}
const DECLINED: AcquirerResponse = { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1' };
const APPROVED: AcquirerResponse = { kind: 'approved', acquirerReference: 'a-2' };
const leaseDueIds = async (leaseMs = 30_000): Promise<string[]> =>
  (await reversals.leaseDue('simulated', processor.clock.later(leaseMs), 50)).map(({ attemptId }) => attemptId);

test('an approval for an attempt that has ended without a charge is reversed once; other approvals are not reversed', async () => {
  const [declined, notAttempted, reversed] = [
    await createEndedAttempt(DECLINED),
    await createEndedAttempt({ kind: 'neverCharged' }),
    await createEndedAttempt({ kind: 'reversed' }),
  ];
  const otherAttempts = [await createEndedAttempt(APPROVED), await createOpenAttempt(processor)];
  await createEndedAttempt(DECLINED);
  for (const attempt of [declined, notAttempted, reversed, declined, ...otherAttempts]) await settle(attempt, APPROVED);
  expect((await leaseDueIds()).sort()).toEqual(
    [declined, notAttempted, reversed].map(({ attemptId }) => attemptId).sort(),
  );
  expect(await reversals.leaseDue('simulated', processor.clock.later(60_000), 50)).toEqual([]);
});

test('an approval for an attempt that is being reversed is reversed after the attempt has ended', async () => {
  const attempt = await createReversingAttempt();
  expect(await settle(attempt, APPROVED)).toBeUndefined();
  expect(await leaseDueIds()).toEqual([]);
  expect(await settle(attempt, { kind: 'neverCharged' })).toMatchObject({ state: 'failed' });
  const { attemptId, acquirer, account, payment } = attempt;
  expect(await reversals.leaseDue('simulated', processor.clock.later(30_000), 50)).toEqual([
    {
      ...{ attemptId, acquirer, account, paymentReference: payment.paymentReference },
      ...{ attemptState: 'notAttempted', requestedAt: processor.clock.now() },
    },
  ]);
});

test('a reversal is not leased while its attempt is reversing, even if the payment has ended, because the recovery job handles this attempt', async () => {
  const attempt = await createReversingAttempt();
  await settle(attempt, APPROVED);
  await changeRow(
    processor,
    `UPDATE payments SET state = 'failed', errors = '[{}]' WHERE payment_id = $1`,
    attempt.paymentId,
  );
  expect(await leaseDueIds()).toEqual([]);
});

test('a reversal is leased to one caller until the lease expires, and then to the next caller', async () => {
  const declined = await createEndedAttempt(DECLINED);
  const { attemptId } = declined;
  await settle(declined, APPROVED);
  expect(await leaseDueIds()).toEqual([attemptId]);
  processor.clock.advance(29_999);
  expect(await leaseDueIds()).toEqual([]);
  processor.clock.advance(1);
  expect(await leaseDueIds()).toEqual([attemptId]);
});

test('a confirmed reversal is recorded and published once, only for the confirmed attempt, and is not retried', async () => {
  const [confirmedAttempt, unconfirmedAttempt] = [
    await createEndedAttempt(DECLINED),
    await createEndedAttempt(DECLINED),
  ];
  for (const attempt of [confirmedAttempt, unconfirmedAttempt]) await settle(attempt, APPROVED);
  const confirmed = await reversals.confirm(confirmedAttempt.attemptId);
  expect(confirmed).toMatchObject({ paymentReference: confirmedAttempt.payment.paymentReference });
  processor.clock.advance(1_000);
  expect(await reversals.confirm(confirmedAttempt.attemptId)).toBeUndefined();
  expect((await processor.published(PaymentReversedV1)).map(({ payload }) => payload)).toEqual([confirmed]);
  const states = await processor.dataSource.query<{ id: string; state: string }[]>(
    `SELECT attempt_id AS id, state FROM attempts`,
  );
  expect(Object.fromEntries(states.map(({ id, state }) => [id, state]))).toEqual({
    [confirmedAttempt.attemptId]: 'reversed',
    [unconfirmedAttempt.attemptId]: 'declined',
  });
  expect(await leaseDueIds()).toEqual([unconfirmedAttempt.attemptId]);
});

test('reversals of payments for several payables are each leased in the mode of their payable and published with it', async () => {
  const attempts: OpenAttempt[] = [];
  for (const mode of ['test', 'live'] as const) {
    const attempt = await createOpenAttempt(processor, buildPayable({ mode }));
    for (const response of [DECLINED, APPROVED]) await settle(attempt, response);
    attempts.push(attempt);
  }
  const leased = await reversals.leaseDue('simulated', processor.clock.later(30_000), 50);
  const modeOf = ({ attemptId }: OpenAttempt) =>
    leased.filter((due) => due.attemptId === attemptId).map(({ account }) => account.mode);
  expect(attempts.map(modeOf)).toEqual([['test'], ['live']]);
  for (const { attemptId, payment } of attempts)
    expect((await reversals.confirm(attemptId))?.payable.payableId).toBe(payment.payable.payableId);
});
