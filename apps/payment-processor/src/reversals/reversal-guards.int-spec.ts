import { PaymentReversedV1 } from '@svc/contracts';
import { anOpenAttempt, tamper } from '../../test/attempts/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { AcquirerAnswer } from '../payments/attempt.js';
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

const settle = (attempt: OpenAttempt, answer: AcquirerAnswer) =>
  processor.service.app.get(SettleAttempt).execute(attempt, answer);
async function reversing(): Promise<OpenAttempt> {
  const open = await anOpenAttempt(processor);
  const attempts = processor.service.app.get(AttemptRepository);
  expect(await attempts.beginReversal(undefined, open, processor.clock.later(30_000))).toBe(true);
  return open;
}
async function ended(answer: AcquirerAnswer): Promise<OpenAttempt> {
  const open = answer.kind === 'reversed' ? await reversing() : await anOpenAttempt(processor);
  expect(await settle(open, answer)).toBeDefined();
  return open;
}
const DECLINED: AcquirerAnswer = { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1' };
const APPROVED: AcquirerAnswer = { kind: 'approved', acquirerReference: 'a-2' };
const claim = async (leaseMs = 30_000): Promise<string[]> =>
  (await reversals.leaseDue(processor.clock.later(leaseMs), 50)).map(({ attemptId }) => attemptId);

test('an approval is reversed once if its attempt had ended without a charge; other attempts do not change', async () => {
  const [declined, notAttempted, reversed] = [
    await ended(DECLINED),
    await ended({ kind: 'neverCharged' }),
    await ended({ kind: 'reversed' }),
  ];
  const others = [await ended(APPROVED), await anOpenAttempt(processor)];
  await ended(DECLINED);
  for (const attempt of [declined, notAttempted, reversed, declined, ...others]) await settle(attempt, APPROVED);
  expect((await claim()).sort()).toEqual([declined, notAttempted, reversed].map(({ attemptId }) => attemptId).sort());
  expect(await reversals.leaseDue(processor.clock.later(60_000), 50)).toEqual([]);
});

test('an approval for an attempt that is being reversed is reversed after the attempt has ended', async () => {
  const open = await reversing();
  expect(await settle(open, APPROVED)).toBeUndefined();
  expect(await claim()).toEqual([]);
  expect(await settle(open, { kind: 'neverCharged' })).toMatchObject({ state: 'failed' });
  expect(await reversals.leaseDue(processor.clock.later(30_000), 50)).toEqual([
    { attemptId: open.attemptId, acquirer: open.acquirer, account: open.account },
  ]);
});

test('the recovery job handles a reversal while its attempt is reversing, even if the payment has ended', async () => {
  const open = await reversing();
  await settle(open, APPROVED);
  await tamper(
    processor,
    `UPDATE payments SET state = 'failed', errors = '[{}]' WHERE payment_id = $1`,
    open.paymentId,
  );
  expect(await claim()).toEqual([]);
});

test('a reversal is leased to one caller until its lease expires, then to the next', async () => {
  const declined = await ended(DECLINED);
  const { attemptId } = declined;
  await settle(declined, APPROVED);
  expect(await claim()).toEqual([attemptId]);
  processor.clock.advance(29_999);
  expect(await claim()).toEqual([]);
  processor.clock.advance(1);
  expect(await claim()).toEqual([attemptId]);
});

test('a confirmation is recorded and published once, for its own attempt, and ends the retries', async () => {
  const [one, other] = [await ended(DECLINED), await ended(DECLINED)];
  for (const attempt of [one, other]) await settle(attempt, APPROVED);
  const confirmed = await reversals.confirm(one.attemptId);
  expect(confirmed).toMatchObject({ paymentReference: one.payment.paymentReference });
  processor.clock.advance(1_000);
  expect(await reversals.confirm(one.attemptId)).toBeUndefined();
  expect((await processor.published(PaymentReversedV1)).map(({ payload }) => payload)).toEqual([confirmed]);
  const states = await processor.dataSource.query<{ id: string; state: string }[]>(
    `SELECT attempt_id AS id, state FROM attempts`,
  );
  expect(Object.fromEntries(states.map(({ id, state }) => [id, state]))).toEqual({
    [one.attemptId]: 'reversed',
    [other.attemptId]: 'declined',
  });
  expect(await claim()).toEqual([other.attemptId]);
});
