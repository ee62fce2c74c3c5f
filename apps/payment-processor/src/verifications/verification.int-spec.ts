import { randomUUID } from 'node:crypto';
import {
  type HostedPaymentSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor();
});
afterEach(() => processor.stop());

/** Pays with a card that requires a verification. */
async function challenged(payable = aPayable(), nth = 1): Promise<HostedPaymentSnapshot> {
  const payment = await processor.pay(payable, { card: CARDS.verified, try: nth });
  expect(payment).toMatchObject({ state: 'verificationRequired', processedAmount: 0, payable: { state: 'open' } });
  return payment;
}

/** The payer returns, and the page polls, at least a second after the last poll. */
async function look(payable: ReturnType<typeof aPayable>): Promise<HostedPaymentSnapshot[]> {
  processor.clock.advance(1_000);
  return processor.check(payable);
}

const errorsOf = (payment: HostedPaymentSnapshot | undefined): string[] =>
  payment?.errors.map(({ errorReference }) => errorReference) ?? [];

test('a verified payment is charged once, after the payer has returned, and published in three events', async () => {
  const payable = aPayable();
  const payment = await challenged(payable);
  expect(payment.verificationUrl).toMatch(/^http:.*\/challenges\//);
  expect(payment.verificationUntilUTCDate).toBe(processor.clock.later(900_000).toISOString());
  expect(await look(payable)).toEqual([payment]);
  expect(processor.charged()).toEqual([]);

  await processor.answerChallenge(payment, 'confirm');
  const [paid] = await look(payable);
  expect(paid).toMatchObject({
    state: 'success',
    processedAmount: 12345,
    payable: { state: 'paid', tries: 1, version: 5 },
  });
  expect(paid).not.toHaveProperty('verificationUrl');
  expect(processor.charged()).toEqual([payment.paymentReference]);

  const events = await processor.dataSource.query<{ type: string; version: number }[]>(
    `SELECT type, aggregate_version AS version FROM event_log WHERE payload->>'paymentReference' = $1 ORDER BY position`,
    [payment.paymentReference],
  );
  expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual([
    'payment.processing.v1 1',
    'payment.needs-verification.v1 2',
    'payment.processing.v1 3',
    'payment.succeeded.v1 4',
  ]);
  const attempts = await processor.dataSource.query<{ state: string }[]>(
    `SELECT state FROM attempts ORDER BY started_at`,
  );
  expect(attempts.map(({ state }) => state)).toEqual(['notAttempted', 'approved']);
});

test('a verification refused by the payer fails with 16, and another card can be tried', async () => {
  const payable = aPayable();
  await processor.answerChallenge(await challenged(payable), 'refuse');
  const [failed] = await look(payable);
  expect(failed).toMatchObject({ state: 'failed', payable: { state: 'open', tries: 1 } });
  expect(errorsOf(failed)).toEqual(['16']);
  expect(await processor.pay(payable, { try: 2 })).toMatchObject({ state: 'success' });
});

test('an abandoned verification fails with 17 at 15 minutes, once, with or without a poll', async () => {
  const [looked, left] = [aPayable(), aPayable()];
  await challenged(looked);
  await challenged(left);
  processor.clock.advance(899_000);
  expect(await processor.clearUp()).toBe(0);
  expect(await processor.check(looked)).toMatchObject([{ state: 'verificationRequired' }]);
  processor.clock.advance(1_000);
  expect(errorsOf((await processor.check(looked))[0])).toEqual(['17']);
  expect(await processor.clearUp()).toBe(1);
  expect(errorsOf((await processor.check(left))[0])).toEqual(['17']);
  expect(await processor.clearUp()).toBe(0);
  expect(await processor.published(PaymentFailedV1)).toHaveLength(2);
});

test('an abandoned challenge does not block other payers; if passed after another payment, it charges nothing', async () => {
  const payable = aPayable();
  const payment = await challenged(payable);
  expect(await processor.pay(payable, { try: 2 })).toMatchObject({ state: 'success' });

  await processor.answerChallenge(payment, 'confirm');
  const [, late] = (await look(payable)).sort((one) => (one.state === 'success' ? -1 : 1));
  expect(late).toMatchObject({
    state: 'failed',
    paymentReference: payment.paymentReference,
    payable: { state: 'paid' },
  });
  expect(errorsOf(late)).toEqual(['20']);
  expect(processor.charged()).toHaveLength(1);
});

test('a merchant can cancel during a challenge; if passed afterwards, the challenge charges nothing', async () => {
  const payable = aPayable();
  const payment = await challenged(payable);
  expect(await processor.close(payable)).toMatchObject({ state: 'closed' });
  await processor.answerChallenge(payment, 'confirm');
  expect(errorsOf((await look(payable))[0])).toEqual(['20']);
  expect(processor.charged()).toEqual([]);
});

test('of two payers verified at the same time one is charged; the other waits, and fails after that success', async () => {
  const payable = aPayable();
  const payments = [await challenged(payable), await challenged(payable, 2)];
  for (const payment of payments) await processor.answerChallenge(payment, 'confirm');
  await Promise.all([look(payable), look(payable), look(payable)]);
  const outcomes = (await look(payable)).map((payment) => [payment.state, ...errorsOf(payment)].join(' '));
  expect(outcomes.sort()).toEqual(['failed 20', 'success']);
  expect(processor.charged()).toHaveLength(1);
});

test('the fifth try may be verified: a sixth cannot begin, and if it fails the payable is refused', async () => {
  const payable = aPayable();
  for (let nth = 1; nth < 5; nth++) await processor.pay(payable, { card: CARDS.declined, try: nth });
  const payment = await challenged(payable, 5);
  await expect(processor.pay(payable, { try: 6 })).rejects.toMatchObject({ code: 'payment.in-progress' });
  await processor.answerChallenge(payment, 'refuse');
  const failed = (await look(payable)).find(({ paymentReference }) => paymentReference === payment.paymentReference);
  expect(failed).toMatchObject({ state: 'failed', payable: { state: 'refused', tries: 5 } });
  await expect(processor.pay(payable, { try: 6 })).rejects.toMatchObject({ code: 'payable.refused' });
});

test('a challenge whose response was lost is recovered, and the payer can continue', async () => {
  const acquirer = processor.service.app.get(Acquirer);
  const charge = acquirer.charge.bind(acquirer);
  acquirer.charge = async (request, signal) => {
    await charge(request, signal);
    return { kind: 'unknown' };
  };
  const payable = aPayable();
  expect(await processor.pay(payable, { card: CARDS.verified })).toMatchObject({ state: 'processing' });
  const [found] = await look(payable);
  expect(found).toMatchObject({ state: 'verificationRequired', payable: { state: 'open' } });
  await processor.answerChallenge(found!, 'confirm');
  expect(await look(payable)).toMatchObject([{ state: 'success' }]);
});

test('after a crash between the return of the payer and the response to the charge, the attempt is recovered like any other', async () => {
  const acquirer = processor.service.app.get(Acquirer);
  const payable = aPayable();
  await processor.answerChallenge(await challenged(payable), 'confirm');
  const chargeVerified = acquirer.chargeVerified.bind(acquirer);
  acquirer.chargeVerified = async (request, signal) => {
    await chargeVerified(request, signal);
    throw new Error('the process died here');
  };
  await expect(look(payable)).rejects.toMatchObject({ code: 'internal' });
  expect(await processor.published(PaymentProcessingV1)).toHaveLength(2);
  await expect(processor.close(payable)).rejects.toMatchObject({ code: 'payment.in-progress' });
  processor.clock.advance(2_000);
  await processor.recover();
  expect(await processor.check(payable)).toMatchObject([{ state: 'success' }]);
  expect(processor.charged()).toHaveLength(1);
});

test('a retry returns the same challenge, and many polls query the bank once', async () => {
  const payable = aPayable();
  const reference = randomUUID();
  const first = await processor.pay(payable, { card: CARDS.verified, reference });
  expect(await processor.pay(payable, { card: CARDS.verified, reference })).toEqual(first);
  expect(await processor.published(PaymentVerificationRequiredV1)).toHaveLength(1);

  const acquirer = processor.service.app.get(Acquirer);
  let asked = 0;
  acquirer.getChallengeState = () => (asked++, Promise.resolve('pending'));
  processor.clock.advance(1_000);
  await Promise.all(Array.from({ length: 10 }, () => processor.check(payable)));
  expect(asked).toBe(1);
});
