import { randomUUID } from 'node:crypto';
import {
  type HostedPaymentSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor();
});
afterEach(() => processor.stop());

/** Pays with a card that requires a verification. */
async function payWithChallenge(payable = buildPayable(), nth = 1): Promise<HostedPaymentSnapshot> {
  const payment = await processor.pay(payable, { card: CARDS.verificationRequired, paymentNumber: nth });
  expect(payment).toMatchObject({ state: 'verificationRequired', processedAmount: 0, payable: { state: 'open' } });
  return payment;
}

/** Simulates that the payer returns and the page polls, one second after the last poll. */
async function returnAndPoll(payable: ReturnType<typeof buildPayable>): Promise<HostedPaymentSnapshot[]> {
  processor.clock.advance(1_000);
  return processor.pollPayments(payable);
}

const errorReferences = (payment: HostedPaymentSnapshot | undefined): string[] =>
  payment?.errors.map(({ errorReference }) => errorReference) ?? [];

test('a verified payment is charged once, after the payer has returned, and its states are published as events', async () => {
  const payable = buildPayable();
  const payment = await payWithChallenge(payable);
  expect(payment.verificationUrl).toMatch(/^http:.*\/challenges\//);
  expect(payment.verificationUntilUTCDate).toBe(processor.clock.later(900_000).toISOString());
  expect(await returnAndPoll(payable)).toEqual([payment]);
  expect(processor.chargedReferences()).toEqual([]);

  await processor.answerChallenge(payment, 'confirm');
  const [paid] = await returnAndPoll(payable);
  expect(paid).toMatchObject({
    state: 'success',
    processedAmount: 12345,
    payable: { state: 'paid', paymentCount: 1, version: 5 },
  });
  expect(paid).not.toHaveProperty('verificationUrl');
  expect(processor.chargedReferences()).toEqual([payment.paymentReference]);

  const events = await processor.dataSource.query<{ type: string; version: number }[]>(
    `SELECT type, aggregate_version AS version FROM event_log WHERE payload->>'paymentReference' = $1 ORDER BY position`,
    [payment.paymentReference],
  );
  expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual([
    'payment.processing.v1 1',
    'payment.verification-required.v1 2',
    'payment.processing.v1 3',
    'payment.succeeded.v1 4',
  ]);
  const attempts = await processor.dataSource.query<{ state: string }[]>(
    `SELECT state FROM attempts ORDER BY started_at`,
  );
  expect(attempts.map(({ state }) => state)).toEqual(['notAttempted', 'approved']);
});

test('a payment whose verification the payer refuses fails with the error 16, and another card can be tried', async () => {
  const payable = buildPayable();
  await processor.answerChallenge(await payWithChallenge(payable), 'refuse');
  const [failed] = await returnAndPoll(payable);
  expect(failed).toMatchObject({ state: 'failed', payable: { state: 'open', paymentCount: 1 } });
  expect(errorReferences(failed)).toEqual(['16']);
  expect(await processor.pay(payable, { paymentNumber: 2 })).toMatchObject({ state: 'success' });
});

test('a payment with an abandoned verification fails once, after 15 minutes and with the error 17, with or without a poll', async () => {
  const [polledPayable, unpolledPayable] = [buildPayable(), buildPayable()];
  await payWithChallenge(polledPayable);
  await payWithChallenge(unpolledPayable);
  processor.clock.advance(899_000);
  expect(await processor.runCleanup()).toBe(0);
  expect(await processor.pollPayments(polledPayable)).toMatchObject([{ state: 'verificationRequired' }]);
  processor.clock.advance(1_000);
  expect(errorReferences((await processor.pollPayments(polledPayable))[0])).toEqual(['17']);
  expect(await processor.runCleanup()).toBe(1);
  expect(errorReferences((await processor.pollPayments(unpolledPayable))[0])).toEqual(['17']);
  expect(await processor.runCleanup()).toBe(0);
  expect(await processor.published(PaymentFailedV1)).toHaveLength(2);
});

test('an open challenge does not block other payers; if the challenge is passed after another payment, nothing is charged', async () => {
  const payable = buildPayable();
  const payment = await payWithChallenge(payable);
  expect(await processor.pay(payable, { paymentNumber: 2 })).toMatchObject({ state: 'success' });

  await processor.answerChallenge(payment, 'confirm');
  const [, latePayment] = (await returnAndPoll(payable)).sort((payment) => (payment.state === 'success' ? -1 : 1));
  expect(latePayment).toMatchObject({
    state: 'failed',
    paymentReference: payment.paymentReference,
    payable: { state: 'paid' },
  });
  expect(errorReferences(latePayment)).toEqual(['20']);
  expect(processor.chargedReferences()).toHaveLength(1);
});

test('a merchant can close the payable during a challenge; if the challenge is passed afterwards, nothing is charged', async () => {
  const payable = buildPayable();
  const payment = await payWithChallenge(payable);
  expect(await processor.closePayable(payable)).toMatchObject({ state: 'closed' });
  await processor.answerChallenge(payment, 'confirm');
  expect(errorReferences((await returnAndPoll(payable))[0])).toEqual(['20']);
  expect(processor.chargedReferences()).toEqual([]);
});

test('if two payers are verified at the same time, one payer is charged, and the payment of the other payer fails afterwards', async () => {
  const payable = buildPayable();
  const payments = [await payWithChallenge(payable), await payWithChallenge(payable, 2)];
  for (const payment of payments) await processor.answerChallenge(payment, 'confirm');
  await Promise.all([returnAndPoll(payable), returnAndPoll(payable), returnAndPoll(payable)]);
  const outcomes = (await returnAndPoll(payable)).map((payment) =>
    [payment.state, ...errorReferences(payment)].join(' '),
  );
  expect(outcomes.sort()).toEqual(['failed 20', 'success']);
  expect(processor.chargedReferences()).toHaveLength(1);
});

test('while the fifth payment waits for its verification, a sixth payment cannot start; if the fifth payment fails, the payable is refused', async () => {
  const payable = buildPayable();
  for (let nth = 1; nth < 5; nth++) await processor.pay(payable, { card: CARDS.declined, paymentNumber: nth });
  const payment = await payWithChallenge(payable, 5);
  await expect(processor.pay(payable, { paymentNumber: 6 })).rejects.toMatchObject({ code: 'payment.in-progress' });
  await processor.answerChallenge(payment, 'refuse');
  const failed = (await returnAndPoll(payable)).find(
    ({ paymentReference }) => paymentReference === payment.paymentReference,
  );
  expect(failed).toMatchObject({ state: 'failed', payable: { state: 'refused', paymentCount: 5 } });
  await expect(processor.pay(payable, { paymentNumber: 6 })).rejects.toMatchObject({ code: 'payable.refused' });
});

test('a payment for which the bank’s response with the challenge was lost is recovered, and the payer can continue', async () => {
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  acquirer.charge = async (request, signal) => {
    await charge(request, signal);
    return { kind: 'unknown' };
  };
  const payable = buildPayable();
  expect(await processor.pay(payable, { card: CARDS.verificationRequired })).toMatchObject({ state: 'processing' });
  const [recoveredPayment] = await returnAndPoll(payable);
  expect(recoveredPayment).toMatchObject({ state: 'verificationRequired', payable: { state: 'open' } });
  await processor.answerChallenge(recoveredPayment!, 'confirm');
  expect(await returnAndPoll(payable)).toMatchObject([{ state: 'success' }]);
});

test('a crash between the return of the payer and the response to the charge does not prevent the recovery of the attempt', async () => {
  const acquirer = processor.acquirer;
  const payable = buildPayable();
  await processor.answerChallenge(await payWithChallenge(payable), 'confirm');
  const chargeVerified = acquirer.chargeVerified.bind(acquirer);
  acquirer.chargeVerified = async (request, signal) => {
    await chargeVerified(request, signal);
    throw new Error('simulated crash');
  };
  await expect(returnAndPoll(payable)).rejects.toMatchObject({ code: 'internal' });
  expect(await processor.published(PaymentProcessingV1)).toHaveLength(2);
  await expect(processor.closePayable(payable)).rejects.toMatchObject({ code: 'payment.in-progress' });
  processor.clock.advance(2_000);
  await processor.recoverAttempts();
  expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'success' }]);
  expect(processor.chargedReferences()).toHaveLength(1);
});

test('a retry returns the same challenge, and several concurrent polls query the bank once', async () => {
  const payable = buildPayable();
  const reference = randomUUID();
  const first = await processor.pay(payable, { card: CARDS.verificationRequired, reference });
  expect(await processor.pay(payable, { card: CARDS.verificationRequired, reference })).toEqual(first);
  expect(await processor.published(PaymentVerificationRequiredV1)).toHaveLength(1);

  const acquirer = processor.acquirer;
  let queries = 0;
  acquirer.getChallengeState = () => (queries++, Promise.resolve('pending'));
  processor.clock.advance(1_000);
  await Promise.all(Array.from({ length: 10 }, () => processor.pollPayments(payable)));
  expect(queries).toBe(1);
});
