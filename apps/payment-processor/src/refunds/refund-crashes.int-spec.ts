/**
 * The process that refunds crashes at each `await` of its flow: the call stops there with a failure. Then the jobs of another process
 * run, and the client retries its call: bank, payment, ledger and events agree on one refund.
 */
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { aRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { expectToAgree } from '../../test/refund-books.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { RefundRepository } from './refund.repository.js';

let processor: Processor;
let office: RefundClient;
const merchantId = 91_000;
beforeAll(async () => {
  processor = await startProcessor();
  office = await aRefundClient(processor, { merchantId });
});
afterAll(() => processor.stop());

const DEATH = 'the process died here';

/** The place where the process crashes once: before or after the nth call of a method. */
interface Death {
  readonly of: 'refunds' | 'acquirer';
  readonly method: string;
  readonly when: 'before' | 'after';
  readonly nth?: number;
}

/** Crashes the process at this place; returns a function that tells whether it has crashed. */
function dieAt({ of, method, when, nth = 1 }: Death): () => boolean {
  const target = processor.service.app.get<Record<string, (...given: unknown[]) => Promise<unknown>>>(
    of === 'refunds' ? RefundRepository : Acquirer,
  );
  const real = target[method]!.bind(target);
  let [calls, isDead] = [0, false];
  target[method] = async (...given) => {
    const isHere = ++calls === nth;
    if (isHere) {
      isDead = true;
      // Another process is running.
      delete target[method];
    }
    if (isHere && when === 'before') throw new Error(DEATH);
    const answer = await real(...given);
    if (isHere) throw new Error(DEATH);
    return answer;
  };
  return () => isDead;
}

/** Crashes the process before the nth statement of the transaction that records an outcome; the result tells whether it has. */
function dieBeforeStatement(nth: number): () => boolean {
  const dataSource = processor.service.app.get(DataSource);
  const transaction = dataSource.transaction.bind(dataSource) as (
    work: (tx: EntityManager) => Promise<unknown>,
  ) => Promise<unknown>;
  let isDead = false;
  const dying = (tx: EntityManager): EntityManager => {
    let statements = 0;
    const query = (...given: Parameters<EntityManager['query']>): Promise<unknown> => {
      if (++statements < nth) return tx.query(...given);
      isDead = true;
      return Promise.reject(new Error(DEATH));
    };
    return new Proxy(tx, { get: (_, name) => (name === 'query' ? query : (Reflect.get(tx, name) as unknown)) });
  };
  const spy = jest.spyOn(dataSource, 'transaction').mockImplementation(((
    work: (tx: EntityManager) => Promise<unknown>,
  ) => {
    spy.mockRestore();
    return transaction((tx) => work(dying(tx)));
  }) as never);
  return () => isDead;
}

/** Another process takes over and recovers everything that is due within an hour. */
async function recoverEverything(): Promise<void> {
  for (const seconds of [10, 50, 240, 300, 300, 3_000]) {
    processor.clock.advance(seconds * 1_000);
    await processor.recoverRefunds();
  }
}

/** The client retries its call after each error response. */
async function repeat(payment: string, key: string): Promise<void> {
  const again = await office.refund(payment, { amount: 100 }, key);
  expect([200, 201]).toContain(again.status);
  expect(again.body).toMatchObject({ status: 'succeeded', amount: 100 });
}

async function expectOneRefund(payment: string): Promise<void> {
  const books = await expectToAgree(processor, payment);
  expect(books.bank).toEqual([{ amount: 100, account: `merchant-${merchantId}` }]);
  expect(books.refunds).toMatchObject([{ amount: 100, state: 'succeeded' }]);
}

/** The clock advances by hours: neither payable nor encrypted card expires. */
const expiresAt = '2999-01-01T00:00:00.000Z';
async function aPaid(cardNumber: string = CARDS.approved): Promise<string> {
  const payable = aPayable({ merchantId, expiresAt });
  const binding = { sessionId: payable.payableId, try: 1, expiresAt };
  const card = await encryptedCard(processor.cardKey, binding, { cardNumber, expiryYear: 2035 });
  return (await processor.pay(payable, { command: { encryptedCard: card } })).paymentReference;
}

const DEATHS: readonly (readonly [name: string, death: Death])[] = [
  ['before the payment is looked up', { of: 'refunds', method: 'findPayment', when: 'before' }],
  ['after the payment was looked up', { of: 'refunds', method: 'findPayment', when: 'after' }],
  ['before the key is looked up', { of: 'refunds', method: 'findByKey', when: 'before' }],
  ['after the key was looked up', { of: 'refunds', method: 'findByKey', when: 'after' }],
  ['before the decision is committed', { of: 'refunds', method: 'create', when: 'before' }],
  ['after the decision is committed', { of: 'refunds', method: 'create', when: 'after' }],
  ['before the call reaches the bank', { of: 'acquirer', method: 'refund', when: 'before' }],
  ['after the bank has refunded', { of: 'acquirer', method: 'refund', when: 'after' }],
  ['before the outcome is recorded', { of: 'refunds', method: 'settle', when: 'before' }],
  ['after the outcome is committed', { of: 'refunds', method: 'settle', when: 'after' }],
  ['before the refund is read for the answer', { of: 'refunds', method: 'findByKey', when: 'before', nth: 2 }],
  ['after the refund was read for the answer', { of: 'refunds', method: 'findByKey', when: 'after', nth: 2 }],
];

describe.each(['the client retries its call first', 'the jobs of another process run first'])('%s', (order) => {
  test.each(DEATHS)('after a crash %s there is one refund', async (_, death) => {
    const [payment, key] = [await aPaid(), randomUUID()];
    const isDead = dieAt(death);
    expect(await office.refund(payment, { amount: 100 }, key)).toMatchObject({ status: 500 });
    expect(isDead()).toBe(true);
    if (order.startsWith('the jobs')) await recoverEverything();
    // Before 10 s have passed, "not found" does not count: the call may be in transit.
    else processor.clock.advance(10_000);
    await repeat(payment, key);
    await recoverEverything();
    await expectOneRefund(payment);
  });
});

test.each([
  [1, 'the refund is locked'],
  [2, 'the refund ends'],
  [3, 'the amount moves from reserved to refunded'],
  [4, 'the ledger is written'],
  [5, 'the event is written'],
])(
  'after a crash before statement %i of the outcome, by which %s, the outcome is rolled back, and there is one refund',
  async (nth) => {
    const [payment, key] = [await aPaid(), randomUUID()];
    const isDead = dieBeforeStatement(nth);
    expect(await office.refund(payment, { amount: 100 }, key)).toMatchObject({ status: 500 });
    expect(isDead()).toBe(true);
    await recoverEverything();
    await repeat(payment, key);
    await expectOneRefund(payment);
  },
);

const DEATHS_OF_THE_JOB: readonly (readonly [name: string, death: Death])[] = [
  ['before it leases the refund', { of: 'refunds', method: 'leaseDue', when: 'before' }],
  ['after it has leased the refund', { of: 'refunds', method: 'leaseDue', when: 'after' }],
  ['before it queries the bank', { of: 'acquirer', method: 'getRefundStatus', when: 'before' }],
  ['after the bank has answered', { of: 'acquirer', method: 'getRefundStatus', when: 'after' }],
  ['before it resends the refund', { of: 'acquirer', method: 'refund', when: 'before' }],
  ['after the bank has refunded', { of: 'acquirer', method: 'refund', when: 'after' }],
  ['before it records the outcome', { of: 'refunds', method: 'settle', when: 'before' }],
  ['after the outcome is committed', { of: 'refunds', method: 'settle', when: 'after' }],
];

test.each(DEATHS_OF_THE_JOB)('after a crash of the job %s there is one refund', async (_, death) => {
  const [payment, key] = [await aPaid(), randomUUID()];
  dieAt({ of: 'refunds', method: 'create', when: 'after' });
  expect((await office.refund(payment, { amount: 100 }, key)).status).toBe(500);
  processor.clock.advance(10_000);
  const isDead = dieAt(death);
  await expect(processor.recoverRefunds()).rejects.toThrow(DEATH);
  expect(isDead()).toBe(true);
  await recoverEverything();
  await repeat(payment, key);
  await expectOneRefund(payment);
});

const DEATHS_WHILE_WAITING: readonly (readonly [name: string, death: Death])[] = [
  ['before the pending refund is leased', { of: 'refunds', method: 'leaseForPoll', when: 'before' }],
  ['after the pending refund was leased', { of: 'refunds', method: 'leaseForPoll', when: 'after' }],
  ['before the bank is queried', { of: 'acquirer', method: 'getRefundStatus', when: 'before' }],
  ['after the bank has answered', { of: 'acquirer', method: 'getRefundStatus', when: 'after' }],
  ['before that outcome is recorded', { of: 'refunds', method: 'settle', when: 'before', nth: 2 }],
  ['after that outcome is committed', { of: 'refunds', method: 'settle', when: 'after', nth: 2 }],
];

test.each(DEATHS_WHILE_WAITING)('after a lost response and a crash %s there is one refund', async (_, death) => {
  const [payment, key] = [await aPaid(CARDS.refundDropsTheAnswer), randomUUID()];
  const isDead = dieAt(death);
  expect((await office.refund(payment, { amount: 100 }, key)).status).toBe(500);
  expect(isDead()).toBe(true);
  await recoverEverything();
  await repeat(payment, key);
  await expectOneRefund(payment);
});
