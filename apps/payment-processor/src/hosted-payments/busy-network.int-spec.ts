/** A payment that only attempts of other payers stand in the way of: it can be repeated soon (P11). */
import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { encryptCard } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { answerCharges, APPROVED, DECLINED, LIMITS_ON, newCardNumber } from '../../test/velocity/tested-cards.js';

const BUSY = { code: 'request.rate-limited', retryAfterSeconds: 1 };

let processor: Processor;
let siteId = 9000;
/** Of all payers of a test. A process remembers the approvals of an address. */
let address: string;
/** Lets the bank answer the payments in flight. */
let release: () => void = () => undefined;
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
});
afterAll(() => processor.stop());
beforeEach(async () => {
  siteId++;
  address = `203.0.113.${siteId % 256}`;
  await processor.superuser.query(`INSERT INTO attacked_sites VALUES ('test', $1, 1001, 1, '2999-01-01', 1, now())`, [
    siteId,
  ]);
});
afterEach(async () => {
  // A failed test must not leave payments that wait for ever.
  release();
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters, attacked_sites');
});

const newPayable = (): HostedPayableDescriptor =>
  buildPayable({ siteId, expiresAt: processor.clock.later(60_000).toISOString() });

async function pay(payable: HostedPayableDescriptor, card = newCardNumber(), reference = randomUUID()) {
  const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt: payable.expiresAt };
  const encryptedCard = await encryptCard(processor.cardKey, binding, { cardNumber: card });
  return processor.pay(payable, { reference, command: { payer: { address }, encryptedCard } });
}

/** Starts payments that wait for the bank. */
async function holdPayments(...payables: HostedPayableDescriptor[]): Promise<Promise<unknown>[]> {
  const answer = Promise.withResolvers<void>();
  release = answer.resolve;
  const charges = answerCharges(processor, async () => {
    await answer.promise;
    return APPROVED;
  });
  const held = payables.map((payable) => pay(payable));
  await waitUntil('the payments to reach the bank', 10_000, () =>
    Promise.resolve(charges.mock.calls.length === payables.length),
  );
  return held;
}

test('while the attempts of its address are in flight, a payment is told when to repeat, and then accepted', async () => {
  const held = await holdPayments(newPayable(), newPayable());
  const [payable, card, reference] = [newPayable(), newCardNumber(), randomUUID()];
  await expect(pay(payable, card, reference)).rejects.toMatchObject(BUSY);
  release();
  await Promise.all(held);
  expect(await pay(payable, card, reference)).toMatchObject({ state: 'success' });
});

test('only a payment of the same session is in progress', async () => {
  const [payable, other] = [newPayable(), newPayable()];
  const held = await holdPayments(payable, other);
  await expect(pay(payable)).rejects.toMatchObject({ code: 'payment.in-progress', retryAfterSeconds: 2 });
  release();
  await Promise.all(held);
});

test('an address that has no attempt left is refused, also while attempts are in flight', async () => {
  const held = await holdPayments(newPayable());
  await processor.superuser.query(
    `UPDATE velocity_counters SET declined_at = ARRAY[$1, $1]::timestamptz[], approvals = '{0,0}', declined_cards = '{1,2}' WHERE counter_key LIKE 'address:%'`,
    [processor.clock.now()],
  );
  await expect(pay(newPayable())).rejects.toMatchObject({ code: 'card.too-many-attempts' });
  release();
  await Promise.all(held);
});

test('cards of a range of which attempts are in flight can be repeated too', async () => {
  await processor.superuser.query('TRUNCATE attacked_sites');
  const range = '52345678';
  answerCharges(processor, DECLINED);
  for (let declines = 0; declines < 9; declines++) await pay(newPayable(), newCardNumber(range));
  const answer = Promise.withResolvers<void>();
  release = answer.resolve;
  const charges = answerCharges(processor, async () => {
    await answer.promise;
    return APPROVED;
  });
  const held = pay(newPayable(), newCardNumber(range));
  await waitUntil('the payment to reach the bank', 10_000, () => Promise.resolve(charges.mock.calls.length === 1));
  await expect(pay(newPayable(), newCardNumber(range))).rejects.toMatchObject(BUSY);
  answer.resolve();
  await held;
});
