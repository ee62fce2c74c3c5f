import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { PaymentRepository } from './payment.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_CONCURRENCY: '1' });
});
afterAll(() => processor.stop());

const accepted = async (): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(`SELECT count(*) FROM payments`);
  return row.count;
};

/** More than half of the time after which "not found" counts, so that the third of four payments still waits then. */
const BANK_TAKES_MS = 3_800;

test('four concurrent payments at a slow bank with one slot: the bank has charged every successful payment', async () => {
  const acquirer = processor.service.app.get(Acquirer);
  const [charge, reverse] = [acquirer.charge.bind(acquirer), acquirer.reverse.bind(acquirer)];
  const payments: Promise<HostedPaymentSnapshot>[] = [];
  const atTheBank: (() => void)[] = [];
  let arrive: () => void = () => undefined;
  acquirer.charge = async (...given) => {
    await new Promise<void>((resolve) => {
      atTheBank.push(resolve);
      arrive();
    });
    return charge(...given);
  };
  let reversalBegins: () => void = () => undefined;
  const reversal = new Promise<void>((resolve) => (reversalBegins = resolve));
  /** A reversal is slower than the charges. */
  acquirer.reverse = async (...given) => {
    reversalBegins();
    await Promise.allSettled(payments);
    return reverse(...given);
  };
  const arrival = (nth: number): Promise<void> =>
    new Promise((resolve) => {
      arrive = () => void (atTheBank.length === nth && resolve());
      arrive();
    });

  for (let nth = 1; nth <= 4; nth++) payments.push(processor.pay(aPayable()));
  const recoveries: Promise<number>[] = [];
  for (let nth = 1; nth <= 4; nth++) {
    await arrival(nth);
    // A payment that waits for a slot is not accepted: it has not reserved its payable, and its age does not count yet.
    expect(await accepted()).toBe(nth);
    processor.clock.advance(BANK_TAKES_MS);
    const recovery = processor.recover();
    recoveries.push(recovery);
    // This charge arrives at the bank only after recovery has the response of the bank.
    await Promise.race([recovery, reversal]);
    atTheBank[nth - 1]!();
  }
  const paid = await Promise.all(payments);
  await Promise.all(recoveries);
  Object.assign(acquirer, { charge, reverse });
  await processor.clearUp();

  const succeeded = await processor.dataSource.query<{ reference: string }[]>(
    `SELECT payment_reference AS reference FROM payments WHERE state = 'success' ORDER BY 1`,
  );
  expect(succeeded.map(({ reference }) => reference)).toEqual([...processor.charged()].sort());
  expect(paid.map(({ state }) => state)).toEqual(Array(4).fill('success'));
});

/** Waits for a slot behind a charge that is at the bank, until the deadline. */
async function withoutSlot<T>(waiting: () => Promise<T>): Promise<T | { code: string }> {
  const acquirer = processor.service.app.get(Acquirer);
  const [charge, serves] = [acquirer.charge.bind(acquirer), acquirer.serves.bind(acquirer)];
  let arrive: () => void = () => undefined;
  let answer: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const answered = new Promise<void>((resolve) => (answer = resolve));
  acquirer.charge = async (...given) => {
    arrive();
    await answered;
    return charge(...given);
  };
  const paying = processor.pay(aPayable());
  await arrived;
  acquirer.charge = charge;
  // The last query before a charge waits for its slot.
  const isWaiting = new Promise<void>((resolve) => {
    acquirer.serves = (mode) => {
      resolve();
      return serves(mode);
    };
  });
  const result = waiting().catch((error: { code: string }) => error);
  await isWaiting;
  acquirer.serves = serves;
  processor.clock.advance(15_000);
  answer();
  expect(await paying).toMatchObject({ state: 'success' });
  return result;
}

test('a payment without a slot before its deadline is rejected without a record, and can be repeated later', async () => {
  const [before, payable] = [await accepted(), aPayable()];
  const refused = await withoutSlot(() => processor.pay(payable));
  expect(refused).toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(await accepted()).toBe(before + 1);
  expect(await processor.pay(payable)).toMatchObject({ state: 'success', payable: { tries: 1 } });
});

test('a payment that the database accepted after its deadline is not charged: its payer may have paid in another way', async () => {
  const payments = processor.service.app.get(PaymentRepository);
  const accept = payments.accept.bind(payments);
  payments.accept = async (...given) => {
    const attempt = await accept(...given);
    processor.clock.advance(15_000);
    return attempt;
  };
  const [payable, before] = [aPayable(), processor.charged().length];
  expect(await processor.pay(payable)).toMatchObject({ state: 'failed', payable: { state: 'open', tries: 1 } });
  payments.accept = accept;
  expect(processor.charged()).toHaveLength(before);
  expect(await processor.pay(payable, { try: 2 })).toMatchObject({ state: 'success', payable: { tries: 2 } });
});

test('a partner’s payment without a slot in time is a 503, and its reference stays free', async () => {
  const partner = await aPartner(processor);
  const invoice = await openInvoice(processor, await aMerchant(processor));
  const [before, reference] = [await accepted(), randomUUID()];
  const refused = await withoutSlot(() => partner.pay(invoice, { reference }));
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(await accepted()).toBe(before + 1);
  expect(await partner.pay(invoice, { reference })).toMatchObject({ status: 201, body: { status: 'success' } });
});

test('a verified payment without a slot in time stays verified: the next query charges', async () => {
  const payable = aPayable();
  const payment = await processor.pay(payable, { card: CARDS.verified });
  await processor.answerChallenge(payment, 'confirm');
  expect(await withoutSlot(() => processor.check(payable))).toMatchObject([{ state: 'verificationRequired' }]);
  expect(await processor.check(payable)).toMatchObject([{ state: 'success' }]);
});
