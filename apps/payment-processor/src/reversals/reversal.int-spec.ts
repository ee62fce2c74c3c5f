import { type HostedPaymentSnapshot, PaymentReversedV1 } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { Acquirer, ChargeOutcome } from '../acquirers/acquirer.js';
import { ReversalRepository } from './reversal.repository.js';

let processor: Processor;
let acquirer: Acquirer;
/** The original methods of the acquirer, before a test replaces them. */
let realMethods: Pick<Acquirer, 'charge' | 'getChargeStatus' | 'reverse'>;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = processor.acquirer;
  realMethods = {
    charge: acquirer.charge.bind(acquirer),
    getChargeStatus: acquirer.getChargeStatus.bind(acquirer),
    reverse: acquirer.reverse.bind(acquirer),
  };
});
afterEach(() => processor.stop());

/**
 * The bank confirms to the recovery job that it has not charged and will never charge. Afterwards the bank charges
 * nevertheless, and approves the charge in its response to the first call.
 */
async function payWithLateApproval(payable = buildPayable()): Promise<HostedPaymentSnapshot> {
  acquirer.getChargeStatus = () => Promise.resolve({ kind: 'notFound' });
  acquirer.reverse = () => Promise.resolve({ kind: 'neverCharged' });
  let lateCharge: Promise<ChargeOutcome> | undefined;
  acquirer.charge = async (request, signal) => {
    processor.clock.advance(10_000);
    await processor.recoverAttempts();
    return (lateCharge = realMethods.charge(request, signal));
  };
  const payment = await processor.pay(payable);
  expect(await lateCharge).toMatchObject({ kind: 'approved' });
  Object.assign(acquirer, realMethods);
  return payment;
}

const readStates = async ({ paymentReference }: HostedPaymentSnapshot): Promise<unknown> =>
  processor.dataSource.query(
    `SELECT a.state AS attempt, p.state AS payment FROM attempts a JOIN payments p USING (payment_id) WHERE payment_reference = $1`,
    [paymentReference],
  );

test('an approval for a failed payment is reversed, recorded and published once; the payment does not change', async () => {
  const payment = await payWithLateApproval();
  expect(payment).toMatchObject({ state: 'failed', errors: [{ errorReference: '30' }], payable: { state: 'open' } });
  expect(processor.chargedReferences()).toEqual([payment.paymentReference]);

  expect(await processor.runCleanup()).toBe(1);
  expect(processor.chargedReferences()).toEqual([]);
  expect(await readStates(payment)).toEqual([{ attempt: 'reversed', payment: 'failed' }]);
  expect((await processor.published(PaymentReversedV1)).map(({ payload }) => payload)).toEqual([
    { ...payment, reversedUTCDate: processor.clock.nowISO() },
  ]);
  processor.clock.advance(3_600_000);
  expect(await processor.runCleanup()).toBe(0);
});

test('a late approval for a payable that another payment has paid in the meantime is reversed; the other payment does not change', async () => {
  const payable = buildPayable();
  let secondPayment: HostedPaymentSnapshot | undefined;
  acquirer.charge = async (request, signal) => {
    acquirer.charge = (...args) => realMethods.charge(...args);
    processor.clock.advance(10_000);
    await processor.recoverAttempts();
    secondPayment = await processor.pay(payable, { paymentNumber: 2 });
    return realMethods.charge(request, signal);
  };
  acquirer.getChargeStatus = () => Promise.resolve({ kind: 'notFound' });
  acquirer.reverse = () => Promise.resolve({ kind: 'neverCharged' });
  const firstPayment = await processor.pay(payable);
  Object.assign(acquirer, realMethods);
  expect([firstPayment.state, secondPayment?.state]).toEqual(['failed', 'success']);
  expect(processor.chargedReferences()).toHaveLength(2);
  await processor.runCleanup();
  expect(processor.chargedReferences()).toEqual([secondPayment?.paymentReference]);
  expect(await readStates(secondPayment!)).toEqual([{ attempt: 'approved', payment: 'success' }]);
});

test('a reversal is leased only after its payment is final, because its event contains the final state of the payment', async () => {
  for (const [challengeAnswer, state] of [
    ['refuse', 'failed'],
    ['confirm', 'success'],
  ] as const) {
    const payable = buildPayable();
    const payment = await processor.pay(payable, { card: CARDS.verificationRequired });
    expect(payment.state).toBe('verificationRequired');
    await processor.dataSource.query(
      `INSERT INTO reversals (attempt_id, requested_at, next_request_at, holds_money, approval_seen)
       SELECT attempt_id, $2, $2, true, true FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1`,
      [payment.paymentReference, processor.clock.now()],
    );
    const leaseDue = () =>
      processor.service.app.get(ReversalRepository).leaseDue('simulated', processor.clock.later(1_000), 10);
    expect(await leaseDue()).toEqual([]);
    await processor.answerChallenge(payment, challengeAnswer);
    expect((await processor.pollPayments(payable)).map((checked) => checked.state)).toEqual([state]);
    expect(await leaseDue()).toHaveLength(1);
  }
});

test('a reversal is requested every 30 seconds until the bank confirms it', async () => {
  const payment = await payWithLateApproval();
  let reversalRequests = 0;
  acquirer.reverse = (...args) =>
    ++reversalRequests < 3 ? Promise.resolve({ kind: 'unconfirmed' }) : realMethods.reverse(...args);
  for (let second = 0; second < 90; second++) {
    await processor.runCleanup();
    processor.clock.advance(1_000);
  }
  expect(reversalRequests).toBe(3);
  expect(processor.chargedReferences()).toEqual([]);
  expect(await readStates(payment)).toEqual([{ attempt: 'reversed', payment: 'failed' }]);
});

test('an approval that the recovery job has already recorded is not reversed', async () => {
  acquirer.charge = async (request, signal) => {
    const outcome = await realMethods.charge(request, signal);
    processor.clock.advance(2_000);
    await processor.recoverAttempts();
    return outcome;
  };
  const payment = await processor.pay(buildPayable());
  expect(payment.state).toBe('success');
  expect(await processor.runCleanup()).toBe(0);
  expect(processor.chargedReferences()).toEqual([payment.paymentReference]);
});
