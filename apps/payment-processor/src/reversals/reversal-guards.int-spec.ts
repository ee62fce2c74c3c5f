import { PaymentReversedV1 } from '@svc/contracts';
import { anOpenAttempt } from '../../test/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { type ChargeOutcome, type ReversalOutcome } from '../acquirers/acquirer.js';
import { endOf } from '../payments/attempt.js';
import { type OpenAttempt, PaymentRepository } from '../payments/payment.repository.js';
import { ReversalRepository } from './reversal.repository.js';

let processor: Processor;
let reversals: ReversalRepository;
beforeEach(async () => {
  processor = await startProcessor();
  reversals = processor.service.app.get(ReversalRepository);
});
afterEach(() => processor.stop());

async function ended(outcome: ChargeOutcome | ReversalOutcome): Promise<OpenAttempt> {
  const open = await anOpenAttempt(processor);
  expect(await processor.service.app.get(PaymentRepository).settle(open, endOf(outcome)!)).toBeDefined();
  return open;
}
const DECLINED: ChargeOutcome = { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1' };
const claim = (leaseMs = 30_000): Promise<string[]> => reversals.claimDue(processor.clock.later(leaseMs), 50);

test('an approval is given back where its attempt had ended without money, once, and for no other attempt', async () => {
  const [declined, notAttempted, reversed] = [
    await ended(DECLINED),
    await ended({ kind: 'neverCharged' }),
    await ended({ kind: 'reversed' }),
  ];
  const others = [
    await ended({ kind: 'approved', acquirerReference: 'a-2' }),
    await anOpenAttempt(processor),
    await ended(DECLINED),
  ];
  for (const { attemptId } of [declined, notAttempted, reversed, declined, others[0]!, others[1]!])
    await reversals.request(attemptId);
  expect((await claim()).sort()).toEqual([declined, notAttempted, reversed].map(({ attemptId }) => attemptId).sort());
});

test('a reversal is given to one caller until its lease is over, then to the next', async () => {
  const { attemptId } = await ended(DECLINED);
  await reversals.request(attemptId);
  expect(await claim()).toEqual([attemptId]);
  processor.clock.advance(29_999);
  expect(await claim()).toEqual([]);
  processor.clock.advance(1);
  expect(await claim()).toEqual([attemptId]);
});

test('a confirmation is recorded and published once, of its own attempt, and ends the asking', async () => {
  const [one, other] = [await ended(DECLINED), await ended(DECLINED)];
  for (const { attemptId } of [one, other]) await reversals.request(attemptId);
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
