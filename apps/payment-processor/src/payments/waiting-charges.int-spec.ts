import type { PaymentSnapshot } from '@svc/contracts';
import { aPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_CONCURRENCY: '1' });
});
afterAll(() => processor.stop());

const accepted = async (): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(`SELECT count(*) FROM payments`);
  return row.count;
};

/** Longer than half of the time after which "not found" counts, so that the third of four payments is waiting by then. */
const BANK_TAKES_MS = 3_800;

test('four payments at once, one at a time at a slow bank: the bank holds the money of every payment that is a success', async () => {
  const acquirer = processor.service.app.get(Acquirer);
  const [charge, reverse] = [acquirer.charge.bind(acquirer), acquirer.reverse.bind(acquirer)];
  const payments: Promise<PaymentSnapshot>[] = [];
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
    // A payment that waits for its turn is not accepted: it holds no payable, and its age does not count yet.
    expect(await accepted()).toBe(nth);
    processor.clock.advance(BANK_TAKES_MS);
    const recovery = processor.recover();
    recoveries.push(recovery);
    // The recovery has heard what the bank knows so far; only then this charge arrives there.
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

test('a payment without a turn before its deadline is refused, and leaves no trace: it can be paid later', async () => {
  const acquirer = processor.service.app.get(Acquirer);
  const charge = acquirer.charge.bind(acquirer);
  const [first, waiting] = [aPayable(), aPayable()];
  let arrive: () => void = () => undefined;
  let answer: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  acquirer.charge = async (...given) => {
    arrive();
    await new Promise<void>((resolve) => (answer = resolve));
    return charge(...given);
  };
  const before = await accepted();
  const paying = processor.pay(first);
  await arrived;
  acquirer.charge = charge;
  const deadline = processor.clock.later(15_000).toISOString();
  const refused = processor.pay(waiting, { command: { deadline } }).catch((error: unknown) => error);
  processor.clock.advance(15_000);
  answer();
  expect(await paying).toMatchObject({ state: 'success' });
  expect(await refused).toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(await accepted()).toBe(before + 1);
  expect(await processor.pay(waiting)).toMatchObject({ state: 'success', payable: { tries: 1 } });
});
