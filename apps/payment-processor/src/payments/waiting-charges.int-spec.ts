import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentRepository } from './payment.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_CONCURRENCY: '1' });
});
afterAll(() => processor.stop());

const countPayments = async (): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(`SELECT count(*) FROM payments`);
  return row.count;
};

/**
 * The response notFound is final after 10 s. Three responses of the bank take longer than 10 s together, so the last of
 * four payments still waits at that time.
 */
const BANK_RESPONSE_MS = 3_800;

test('with one permit for charges at a slow bank, four concurrent payments succeed, and the bank has charged each of them', async () => {
  const acquirer = processor.acquirer;
  const [charge, reverse] = [acquirer.charge.bind(acquirer), acquirer.reverse.bind(acquirer)];
  const payments: Promise<HostedPaymentSnapshot>[] = [];
  const pendingCharges: (() => void)[] = [];
  let onArrival: () => void = () => undefined;
  acquirer.charge = async (...args) => {
    await new Promise<void>((resolve) => {
      pendingCharges.push(resolve);
      onArrival();
    });
    return charge(...args);
  };
  let notifyReversal: () => void = () => undefined;
  const reversalStarted = new Promise<void>((resolve) => (notifyReversal = resolve));
  // A reversal is slower than the charges.
  acquirer.reverse = async (...args) => {
    notifyReversal();
    await Promise.allSettled(payments);
    return reverse(...args);
  };
  const waitForCharge = (nth: number): Promise<void> =>
    new Promise((resolve) => {
      onArrival = () => void (pendingCharges.length === nth && resolve());
      onArrival();
    });

  for (let nth = 1; nth <= 4; nth++) payments.push(processor.pay(buildPayable()));
  const recoveries: Promise<number>[] = [];
  for (let nth = 1; nth <= 4; nth++) {
    await waitForCharge(nth);
    // A payment that waits for a permit is not accepted yet: its payable is not reserved, and no attempt has started.
    expect(await countPayments()).toBe(nth);
    processor.clock.advance(BANK_RESPONSE_MS);
    const recovery = processor.recoverAttempts();
    recoveries.push(recovery);
    // The bank processes this charge only after the recovery job has received the bank's response to the job's query.
    await Promise.race([recovery, reversalStarted]);
    pendingCharges[nth - 1]!();
  }
  const paid = await Promise.all(payments);
  await Promise.all(recoveries);
  Object.assign(acquirer, { charge, reverse });
  await processor.runCleanup();

  const succeeded = await processor.dataSource.query<{ reference: string }[]>(
    `SELECT payment_reference AS reference FROM payments WHERE state = 'success' ORDER BY 1`,
  );
  expect(succeeded.map(({ reference }) => reference)).toEqual([...processor.chargedReferences()].sort());
  expect(paid.map(({ state }) => state)).toEqual(Array(4).fill('success'));
});

/** Runs a payment while another charge has the only permit, until the payment's deadline has passed. */
async function runWithoutPermit<T>(run: () => Promise<T>): Promise<T | { code: string }> {
  const acquirer = processor.acquirer;
  const [charge, supportsMode] = [acquirer.charge.bind(acquirer), acquirer.supportsMode.bind(acquirer)];
  let onArrival: () => void = () => undefined;
  let respond: () => void = () => undefined;
  const chargeArrived = new Promise<void>((resolve) => (onArrival = resolve));
  const bankResponse = new Promise<void>((resolve) => (respond = resolve));
  acquirer.charge = async (...args) => {
    onArrival();
    await bankResponse;
    return charge(...args);
  };
  const firstPayment = processor.pay(buildPayable());
  await chargeArrived;
  acquirer.charge = charge;
  // The flow of a charge calls this method immediately before it waits for a permit.
  const waitsForPermit = new Promise<void>((resolve) => {
    acquirer.supportsMode = (mode) => {
      resolve();
      return supportsMode(mode);
    };
  });
  const result = run().catch((error: { code: string }) => error);
  await waitsForPermit;
  acquirer.supportsMode = supportsMode;
  processor.clock.advance(15_000);
  respond();
  expect(await firstPayment).toMatchObject({ state: 'success' });
  return result;
}

test('a payment that gets no permit before its deadline is rejected without a record, and can be repeated later', async () => {
  const [before, payable] = [await countPayments(), buildPayable()];
  const rejected = await runWithoutPermit(() => processor.pay(payable));
  expect(rejected).toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(await countPayments()).toBe(before + 1);
  expect(await processor.pay(payable)).toMatchObject({ state: 'success', payable: { paymentCount: 1 } });
});

test('a payment that the database accepts after its deadline is not charged, because the payer may have paid in another way', async () => {
  const payments = processor.service.app.get(PaymentRepository);
  const accept = payments.accept.bind(payments);
  payments.accept = async (...args) => {
    const attempt = await accept(...args);
    processor.clock.advance(15_000);
    return attempt;
  };
  const [payable, before] = [buildPayable(), processor.chargedReferences().length];
  expect(await processor.pay(payable)).toMatchObject({ state: 'failed', payable: { state: 'open', paymentCount: 1 } });
  payments.accept = accept;
  expect(processor.chargedReferences()).toHaveLength(before);
  expect(await processor.pay(payable, { paymentNumber: 2 })).toMatchObject({
    state: 'success',
    payable: { paymentCount: 2 },
  });
});

test('a partner’s payment that gets no permit in time is rejected with 503, and its reference can be used again', async () => {
  const partner = await createPartner(processor);
  const invoice = await openInvoice(processor, await createMerchant(processor));
  const [before, reference] = [await countPayments(), randomUUID()];
  const rejected = await runWithoutPermit(() => partner.pay(invoice, { reference }));
  expect(rejected).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(await countPayments()).toBe(before + 1);
  expect(await partner.pay(invoice, { reference })).toMatchObject({ status: 201, body: { status: 'success' } });
});

test('a verified payment that gets no permit in time is charged at the next poll', async () => {
  const payable = buildPayable();
  const payment = await processor.pay(payable, { card: CARDS.verificationRequired });
  await processor.answerChallenge(payment, 'confirm');
  expect(await runWithoutPermit(() => processor.pollPayments(payable))).toMatchObject([
    { state: 'verificationRequired' },
  ]);
  expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'success' }]);
});
