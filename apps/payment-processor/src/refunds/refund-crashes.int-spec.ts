/**
 * Simulates a crash of the refunding process at each `await` of a refund, so that the call fails there. Afterwards the
 * jobs of another process run and the client retries its call, in both orders. Finally bank, payment, ledger and events
 * must consistently contain one refund.
 */
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { expectConsistentRecords } from '../../test/books/refund-books.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS, encryptCard } from '../../test/encrypted-card.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { RefundRepository } from './refund.repository.js';

let processor: Processor;
let backOffice: RefundClient;
const merchantId = 91_000;
beforeAll(async () => {
  processor = await startProcessor();
  backOffice = await createRefundClient(processor, { merchantId });
});
afterAll(() => processor.stop());

const CRASH_MESSAGE = 'simulated crash';

/** The point at which the process crashes once: before or after the nth call of a method. */
interface Crash {
  readonly target: 'refunds' | 'acquirer';
  readonly method: string;
  readonly when: 'before' | 'after';
  readonly nth?: number;
}

/** Lets the process crash at this point. Returns a function that returns true after the crash. */
function crashAt({ target, method, when, nth = 1 }: Crash): () => boolean {
  const instance = (target === 'refunds' ? processor.service.app.get(RefundRepository) : processor.acquirer) as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  const original = instance[method]!.bind(instance);
  let [calls, hasCrashed] = [0, false];
  instance[method] = async (...args) => {
    const isCrashPoint = ++calls === nth;
    if (isCrashPoint) {
      hasCrashed = true;
      // Later calls simulate another process, which does not crash.
      delete instance[method];
    }
    if (isCrashPoint && when === 'before') throw new Error(CRASH_MESSAGE);
    const result = await original(...args);
    if (isCrashPoint) throw new Error(CRASH_MESSAGE);
    return result;
  };
  return () => hasCrashed;
}

/**
 * Lets the process crash before the nth statement of the transaction that records an outcome. Returns the same function
 * as crashAt.
 */
function crashBeforeStatement(nth: number): () => boolean {
  const dataSource = processor.service.app.get(DataSource);
  const transaction = dataSource.transaction.bind(dataSource) as (
    run: (tx: EntityManager) => Promise<unknown>,
  ) => Promise<unknown>;
  let hasCrashed = false;
  const crashingManager = (tx: EntityManager): EntityManager => {
    let statements = 0;
    const query = (...args: Parameters<EntityManager['query']>): Promise<unknown> => {
      if (++statements < nth) return tx.query(...args);
      hasCrashed = true;
      return Promise.reject(new Error(CRASH_MESSAGE));
    };
    return new Proxy(tx, { get: (_, name) => (name === 'query' ? query : (Reflect.get(tx, name) as unknown)) });
  };
  const spy = jest.spyOn(dataSource, 'transaction').mockImplementation(((
    run: (tx: EntityManager) => Promise<unknown>,
  ) => {
    spy.mockRestore();
    return transaction((tx) => run(crashingManager(tx)));
  }) as never);
  return () => hasCrashed;
}

/** Runs the recovery job of another process for about an hour of simulated time. */
async function recoverEverything(): Promise<void> {
  for (const seconds of [10, 50, 240, 300, 300, 3_000]) {
    processor.clock.advance(seconds * 1_000);
    await processor.recoverRefunds();
  }
}

/** The client's retry after an error response. */
async function retryCall(payment: string, key: string): Promise<void> {
  const retried = await backOffice.refund(payment, { amount: 100 }, key);
  expect([200, 201]).toContain(retried.status);
  expect(retried.body).toMatchObject({ status: 'succeeded', amount: 100 });
}

async function expectOneRefund(payment: string): Promise<void> {
  const records = await expectConsistentRecords(processor, payment);
  expect(records.bank).toEqual([{ amount: 100, account: `merchant-${merchantId}` }]);
  expect(records.refunds).toMatchObject([{ amount: 100, state: 'succeeded' }]);
}

/** The tests advance the clock by hours. Therefore payables and encrypted cards expire late. */
const expiresAt = '2999-01-01T00:00:00.000Z';
async function createPaidPayment(cardNumber: string = CARDS.approved): Promise<string> {
  const payable = buildPayable({ merchantId, expiresAt });
  const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt };
  const card = await encryptCard(processor.cardKey, binding, { cardNumber, expiryYear: 2035 });
  return (await processor.pay(payable, { command: { encryptedCard: card } })).paymentReference;
}

const CRASHES: readonly (readonly [name: string, crash: Crash])[] = [
  ['before the payment is read', { target: 'refunds', method: 'findPayment', when: 'before' }],
  ['after the payment was read', { target: 'refunds', method: 'findPayment', when: 'after' }],
  ['before the idempotency key is read', { target: 'refunds', method: 'findByKey', when: 'before' }],
  ['after the idempotency key was read', { target: 'refunds', method: 'findByKey', when: 'after' }],
  ['before the refund is committed', { target: 'refunds', method: 'create', when: 'before' }],
  ['after the refund is committed', { target: 'refunds', method: 'create', when: 'after' }],
  ['before the call reaches the bank', { target: 'acquirer', method: 'refund', when: 'before' }],
  ['after the bank has refunded', { target: 'acquirer', method: 'refund', when: 'after' }],
  ['before the outcome is recorded', { target: 'refunds', method: 'settle', when: 'before' }],
  ['after the outcome is committed', { target: 'refunds', method: 'settle', when: 'after' }],
  ['before the refund is read for the response', { target: 'refunds', method: 'findByKey', when: 'before', nth: 2 }],
  ['after the refund was read for the response', { target: 'refunds', method: 'findByKey', when: 'after', nth: 2 }],
];

const ORDERS = ['a retry before the jobs of another process', 'the jobs of another process before a retry'];

describe.each(ORDERS)('%s', (order) => {
  test.each(CRASHES)('must lead to one refund if the process crashes %s', async (_, crash) => {
    const [payment, key] = [await createPaidPayment(), randomUUID()];
    const hasCrashed = crashAt(crash);
    expect(await backOffice.refund(payment, { amount: 100 }, key)).toMatchObject({ status: 500 });
    expect(hasCrashed()).toBe(true);
    if (order.startsWith('the jobs')) await recoverEverything();
    // The response notFound is final only after 10 s. Before that, the call may still be in transit.
    else processor.clock.advance(10_000);
    await retryCall(payment, key);
    await recoverEverything();
    await expectOneRefund(payment);
  });
});

test.each([
  [1, 'locks the refund'],
  [2, 'ends the refund'],
  [3, 'moves the amount from reserved to refunded'],
  [4, 'writes the ledger'],
  [5, 'writes the event'],
])('a crash before statement %i, which %s, rolls the outcome back, and in the end there is one refund', async (nth) => {
  const [payment, key] = [await createPaidPayment(), randomUUID()];
  const hasCrashed = crashBeforeStatement(nth);
  expect(await backOffice.refund(payment, { amount: 100 }, key)).toMatchObject({ status: 500 });
  expect(hasCrashed()).toBe(true);
  await recoverEverything();
  await retryCall(payment, key);
  await expectOneRefund(payment);
});

const CRASHES_OF_JOB: readonly (readonly [name: string, crash: Crash])[] = [
  ['before it leases the refund', { target: 'refunds', method: 'leaseDue', when: 'before' }],
  ['after it has leased the refund', { target: 'refunds', method: 'leaseDue', when: 'after' }],
  ['before it queries the bank', { target: 'acquirer', method: 'getRefundStatus', when: 'before' }],
  ['after the bank has responded', { target: 'acquirer', method: 'getRefundStatus', when: 'after' }],
  ['before it resends the refund', { target: 'acquirer', method: 'refund', when: 'before' }],
  ['after the bank has refunded', { target: 'acquirer', method: 'refund', when: 'after' }],
  ['before it records the outcome', { target: 'refunds', method: 'settle', when: 'before' }],
  ['after the outcome is committed', { target: 'refunds', method: 'settle', when: 'after' }],
];

test.each(CRASHES_OF_JOB)('there is one refund if the job crashes %s', async (_, crash) => {
  const [payment, key] = [await createPaidPayment(), randomUUID()];
  crashAt({ target: 'refunds', method: 'create', when: 'after' });
  expect((await backOffice.refund(payment, { amount: 100 }, key)).status).toBe(500);
  processor.clock.advance(10_000);
  const hasCrashed = crashAt(crash);
  await expect(processor.recoverRefunds()).rejects.toThrow(CRASH_MESSAGE);
  expect(hasCrashed()).toBe(true);
  await recoverEverything();
  await retryCall(payment, key);
  await expectOneRefund(payment);
});

const CRASHES_WHILE_WAITING: readonly (readonly [name: string, crash: Crash])[] = [
  ['before the pending refund is leased', { target: 'refunds', method: 'leaseForPoll', when: 'before' }],
  ['after the pending refund was leased', { target: 'refunds', method: 'leaseForPoll', when: 'after' }],
  ['before the bank is queried', { target: 'acquirer', method: 'getRefundStatus', when: 'before' }],
  ['after the bank has responded', { target: 'acquirer', method: 'getRefundStatus', when: 'after' }],
  ['before the outcome of the query is recorded', { target: 'refunds', method: 'settle', when: 'before', nth: 2 }],
  ['after the outcome of the query is committed', { target: 'refunds', method: 'settle', when: 'after', nth: 2 }],
];

test.each(CRASHES_WHILE_WAITING)(
  'there is one refund if the response of the bank is lost and the process crashes %s',
  async (_, crash) => {
    const [payment, key] = [await createPaidPayment(CARDS.refundResponseLost), randomUUID()];
    const hasCrashed = crashAt(crash);
    expect((await backOffice.refund(payment, { amount: 100 }, key)).status).toBe(500);
    expect(hasCrashed()).toBe(true);
    await recoverEverything();
    await retryCall(payment, key);
    await expectOneRefund(payment);
  },
);
