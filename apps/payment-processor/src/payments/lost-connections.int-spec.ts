/** A connection that is cut while fifty payments share a statement: nothing is retried, and the bank is queried. */
import type { HostedPaymentSnapshot, PayableDescriptor } from '@svc/contracts';
import { isDatabaseUnavailable } from '@svc/persistence';
import { type HeldLocks, terminateBlockedBackend, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import {
  acceptWith,
  aKnownPayable,
  holdAccepts,
  holdSettlements,
  lockPayables,
  spyOnStatements,
  startReplica,
} from '../../test/attempts/shared-statements.js';
import { aPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { PaymentRepository } from './payment.repository.js';

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.stop();
});

const LATER = '2999-01-01T00:00:00.000Z';
const payablesOf = () => Array.from({ length: 50 }, () => aPayable({ expiresAt: LATER }));

/** These payables in the tables and at the bank. */
async function booksOf(payables: readonly PayableDescriptor[]): Promise<Record<string, number>> {
  const [counts] = await processor.dataSource.query<{ references: string[] }[]>(
    `SELECT count(*) FILTER (WHERE p.state = 'success') AS successes, count(*) FILTER (WHERE p.state = 'failed') AS failures,
            count(*) FILTER (WHERE p.state = 'processing') AS "underWay",
            count(*) FILTER (WHERE y.state = 'paid' AND y.holder = p.payment_id) AS paid,
            (SELECT count(*) FROM transfers t WHERE t.payment_id = ANY (array_agg(p.payment_id))) AS transfers,
            (SELECT count(*) FROM event_log e WHERE e.type = 'payment.succeeded.v1'
                AND e.aggregate_id = ANY (array_agg(p.payment_id::text))) AS events,
            coalesce(array_agg(p.payment_reference), '{}') AS references
       FROM payments p JOIN payables y USING (payable_id) WHERE p.payable_id = ANY ($1)`,
    [payables.map(({ payableId }) => payableId)],
  );
  const { references, ...rest } = counts!;
  return { ...rest, charged: processor.charged().filter((reference) => references.includes(reference)).length };
}
const NOTHING = { successes: 0, failures: 0, underWay: 0, paid: 0, transfers: 0, events: 0, charged: 0 };
const ALL_PAID = { ...NOTHING, successes: 50, paid: 50, transfers: 50, events: 50, charged: 50 };

async function recoverAll(afterMs: number): Promise<void> {
  processor.clock.advance(afterMs);
  while ((await processor.recover()) > 0);
}

/** Commits the statements, and loses their results. */
function loseAnswers(dataSource: DataSource): void {
  const query = dataSource.query.bind(dataSource);
  jest.spyOn(dataSource, 'query').mockImplementation(async (text, parameters) => {
    const rows = await query(text, parameters);
    if (/^WITH (item|locked) AS/.test(text)) throw new Error('Connection terminated unexpectedly');
    return rows;
  });
}

describe('a connection lost while recording the outcomes of fifty payments', () => {
  /** The bank has charged all payments, and their outcomes wait for the next statement until `held` is released. */
  async function pay(payables: readonly PayableDescriptor[]): Promise<{ held: HeldLocks; pays: Promise<unknown[]> }> {
    const payments = processor.service.app.get(PaymentRepository);
    const acquirer = processor.service.app.get(Acquirer);
    const charge = acquirer.charge.bind(acquirer);
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answer = resolve));
    let atTheBank = 0;
    jest.spyOn(acquirer, 'charge').mockImplementation(async (...given) => {
      const outcome = await charge(...given);
      atTheBank++;
      await answering;
      return outcome;
    });
    const codeOf = ({ code }: { code: string }): string => code;
    const pays = Promise.all(
      payables.map((payable): Promise<HostedPaymentSnapshot | string> => processor.pay(payable).catch(codeOf)),
    );
    await waitUntil('fifty charges', 20_000, () => Promise.resolve(atTheBank === payables.length));
    const held = await holdSettlements(processor, payments);
    const settle = jest.spyOn(payments, 'settle');
    answer();
    await waitUntil('fifty answers', 20_000, () => Promise.resolve(settle.mock.calls.length === payables.length));
    return { held, pays };
  }

  test('before the commit: no outcome is recorded, and recovery queries the bank', async () => {
    const payables = payablesOf();
    const { held, pays } = await pay(payables);
    const lock = await lockPayables(processor, [payables[25]!]);
    const statements = spyOnStatements(processor.dataSource);
    await held.release();
    await terminateBlockedBackend(processor.dataSource);
    expect(await pays).toEqual(payables.map(() => 'service.not-ready'));
    await lock.release();
    expect(statements.batches().map((ids) => ids.length)).toEqual([50]);
    expect(await booksOf(payables)).toEqual({ ...NOTHING, underWay: 50, charged: 50 });
    await recoverAll(2_000);
    expect(await booksOf(payables)).toEqual(ALL_PAID);
  });

  test('after the commit: the outcomes are recorded, and recovery has nothing to do', async () => {
    const payables = payablesOf();
    const { held, pays } = await pay(payables);
    loseAnswers(processor.dataSource);
    await held.release();
    expect(await pays).toEqual(payables.map(() => 'service.not-ready'));
    jest.restoreAllMocks();
    expect(await booksOf(payables)).toEqual(ALL_PAID);
    await recoverAll(900_000);
    expect(await booksOf(payables)).toEqual(ALL_PAID);
  });
});

describe('a connection lost while accepting fifty payments', () => {
  /** Accepts all in one statement of a replica, which is cut while it waits for `lock`, or commits and loses its result. */
  async function acceptAll(payables: readonly PayableDescriptor[], lock?: HeldLocks): Promise<void> {
    const replica = await startReplica(processor);
    const held = await holdAccepts(processor, replica.payments);
    if (!lock) loseAnswers(replica.dataSource);
    const statements = spyOnStatements(replica.dataSource);
    const accepts = payables.map((payable) =>
      acceptWith(replica.payments, processor, payable).then(
        () => 'accepted',
        (error: unknown) => isDatabaseUnavailable(error),
      ),
    );
    await held.release();
    if (lock) await terminateBlockedBackend(processor.dataSource);
    expect(await Promise.all(accepts)).toEqual(payables.map(() => true));
    expect(statements.batches().map((ids) => ids.length)).toEqual([50]);
    jest.restoreAllMocks();
    await replica.stop();
    await lock?.release();
  }

  test('before the commit: no payment is accepted, and all payables can be paid immediately', async () => {
    const payables = [...payablesOf().slice(1), await aKnownPayable(processor, { expiresAt: LATER })];
    const lock = await lockPayables(processor, payables.slice(-1));
    await acceptAll(payables, lock);
    expect(await booksOf(payables)).toEqual(NOTHING);
    await Promise.all(payables.map((payable) => processor.pay(payable)));
    expect(await booksOf(payables)).toEqual(ALL_PAID);
  });

  test('after the commit: nothing is charged, and all payables can be paid again after a query to the bank', async () => {
    const payables = payablesOf();
    await acceptAll(payables);
    expect(await booksOf(payables)).toEqual({ ...NOTHING, underWay: 50 });
    await recoverAll(2_000);
    await recoverAll(8_000);
    expect(await booksOf(payables)).toEqual({ ...NOTHING, failures: 50 });
    await Promise.all(payables.map((payable) => processor.pay(payable, { try: 2 })));
    expect(await booksOf(payables)).toEqual({ ...ALL_PAID, failures: 50 });
  });
});
