import { PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor();
});
afterEach(() => processor.stop());

const readStates = async (payableId: string): Promise<unknown> => {
  const [row] = await processor.dataSource.query<unknown[]>(
    `SELECT a.state AS attempt, p.state AS payment, y.state AS payable FROM attempts a JOIN payments p USING (payment_id) JOIN payables y USING (payable_id) WHERE y.payable_id = $1`,
    [payableId],
  );
  return row;
};

test('a payment whose charge response was lost is processing at first, and is then recovered and recorded once', async () => {
  const payable = buildPayable();
  const payment = await processor.pay(payable, { card: CARDS.responseLost });
  expect(payment.state).toBe('processing');
  expect(await readStates(payable.payableId)).toEqual({
    attempt: 'unknown',
    payment: 'processing',
    payable: 'reserved',
  });
  await expect(processor.pay(payable, { paymentNumber: 2 })).rejects.toMatchObject({ code: 'payment.in-progress' });

  expect(await processor.recoverAttempts()).toBe(0);
  processor.clock.advance(2_000);
  expect(await processor.recoverAttempts()).toBe(1);

  expect(await readStates(payable.payableId)).toEqual({ attempt: 'approved', payment: 'success', payable: 'paid' });
  expect(processor.chargedReferences()).toEqual([payment.paymentReference]);
  expect(await processor.published(PaymentSucceededV1)).toHaveLength(1);
  processor.clock.advance(3_600_000);
  expect(await processor.recoverAttempts()).toBe(0);
});

/** Simulates a process that crashes after it has committed the attempt and before it gets the acquirer's response. */
async function payAndCrash(
  payable = buildPayable(),
  { reachesTheAcquirer }: { reachesTheAcquirer: boolean },
): Promise<string> {
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  acquirer.charge = async (request, signal) => {
    if (reachesTheAcquirer) await charge(request, signal);
    throw new Error('simulated crash');
  };
  await expect(processor.pay(payable)).rejects.toMatchObject({ code: 'internal' });
  acquirer.charge = charge;
  return payable.payableId;
}

test('a payment whose process crashed after the charge is recovered after 2 s', async () => {
  const payableId = await payAndCrash(undefined, { reachesTheAcquirer: true });
  expect(await readStates(payableId)).toEqual({ attempt: 'started', payment: 'processing', payable: 'reserved' });
  processor.clock.advance(2_000);
  await processor.recoverAttempts();
  expect(await readStates(payableId)).toEqual({ attempt: 'approved', payment: 'success', payable: 'paid' });
  expect(processor.chargedReferences()).toHaveLength(1);
});

test('if the process crashed before the charge, the recovery blocks the idempotency key, and the payable can be paid again', async () => {
  const payable = buildPayable();
  await payAndCrash(payable, { reachesTheAcquirer: false });
  processor.clock.advance(2_000);
  await processor.recoverAttempts();
  expect(await readStates(payable.payableId)).toEqual({
    attempt: 'unknown',
    payment: 'processing',
    payable: 'reserved',
  });
  processor.clock.advance(8_000);
  await processor.recoverAttempts();
  expect(await readStates(payable.payableId)).toEqual({ attempt: 'notAttempted', payment: 'failed', payable: 'open' });
  expect((await processor.published(PaymentFailedV1))[0]!.payload.errors).toEqual([
    { errorReference: '30', message: expect.any(String) },
  ]);
  expect(processor.chargedReferences()).toEqual([]);

  const [{ key }] = await processor.dataSource.query<[{ key: string }]>(`SELECT attempt_id AS key FROM attempts`);
  const lateCharge = {
    account: { mode: 'test', accountReference: `merchant-${payable.merchantId}` },
    idempotencyKey: key,
    paymentReference: 'x',
    amount: 1,
    currencyISOCode: 'ZAR',
    bankReturnUrl: 'https://pay.example/pay',
    pageOrigin: undefined,
    payer: undefined,
    card: { cardNumber: CARDS.approved, cvv: '123', holderName: '', expiryMonth: 1, expiryYear: 2030 },
  } as const;
  expect(await processor.acquirer.charge(lateCharge, new AbortController().signal)).toMatchObject({
    kind: 'neverCharged',
  });
  expect(await processor.pay(payable, { paymentNumber: 2 })).toMatchObject({ state: 'success' });
});

test('an acquirer that does not report the outcome is queried four times; after 15 minutes the reversal is sent until the acquirer confirms it, and the payment fails with the error 31', async () => {
  const acquirer = processor.acquirer;
  const payable = buildPayable();
  await processor.pay(payable, { card: CARDS.responseLost });
  const [originalQuery, reverse] = [acquirer.getChargeStatus.bind(acquirer), acquirer.reverse.bind(acquirer)];
  let [queries, reversals] = [0, 0];
  acquirer.getChargeStatus = () => (queries++, Promise.resolve({ kind: 'unknown' }));
  acquirer.reverse = (...args) => (++reversals === 1 ? Promise.resolve({ kind: 'unconfirmed' }) : reverse(...args));

  // 15 minutes, and 30 s for the second reversal.
  for (let second = 0; second < 940; second++) {
    processor.clock.advance(1_000);
    await processor.recoverAttempts();
  }
  acquirer.getChargeStatus = originalQuery;

  expect(queries).toBe(4);
  expect(reversals).toBe(2);
  expect(await readStates(payable.payableId)).toEqual({ attempt: 'reversed', payment: 'failed', payable: 'open' });
  expect((await processor.published(PaymentFailedV1))[0]!.payload.errors[0]!.errorReference).toBe('31');
  expect(processor.chargedReferences()).toEqual([]);
});

test('only one of three concurrent recovery jobs recovers an attempt', async () => {
  await processor.pay(buildPayable(), { card: CARDS.responseLost });
  processor.clock.advance(2_000);
  expect(
    (await Promise.all([processor.recoverAttempts(), processor.recoverAttempts(), processor.recoverAttempts()])).sort(),
  ).toEqual([0, 0, 1]);
});
