/**
 * Tests a database connection that is lost while fifty payments share a statement. The statement is not retried.
 * Instead, the bank is queried.
 */
import type { HostedPayableDescriptor, HostedPaymentSnapshot } from '@svc/contracts';
import { isDatabaseUnavailable } from '@svc/persistence';
import { type HeldLocks, terminateBlockedBackend, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import {
  acceptWith,
  createStoredPayable,
  holdAccepts,
  holdSettlements,
  lockPayables,
  spyOnStatements,
  startReplica,
} from '../../test/attempts/shared-statements.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
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
const buildPayables = () => Array.from({ length: 50 }, () => buildPayable({ expiresAt: LATER }));

/** Counts of the payments of these payables in the tables and at the bank. */
async function readTotals(payables: readonly HostedPayableDescriptor[]): Promise<Record<string, number>> {
  const [counts] = await processor.dataSource.query<{ references: string[] }[]>(
    `SELECT count(*) FILTER (WHERE p.state = 'success') AS successes, count(*) FILTER (WHERE p.state = 'failed') AS failures,
            count(*) FILTER (WHERE p.state = 'processing') AS "inProgress",
            count(*) FILTER (WHERE y.state = 'paid' AND y.holder = p.payment_id) AS paid,
            (SELECT count(*) FROM transfers t WHERE t.payment_id = ANY (array_agg(p.payment_id))) AS transfers,
            (SELECT count(*) FROM event_log e WHERE e.type = 'payment.succeeded.v1'
                AND e.aggregate_id = ANY (array_agg(p.payment_id::text))) AS events,
            coalesce(array_agg(p.payment_reference), '{}') AS references
       FROM payments p JOIN payables y USING (payable_id) WHERE p.payable_id = ANY ($1)`,
    [payables.map(({ payableId }) => payableId)],
  );
  const { references, ...totals } = counts!;
  return {
    ...totals,
    charged: processor.chargedReferences().filter((reference) => references.includes(reference)).length,
  };
}
const NO_PAYMENTS = { successes: 0, failures: 0, inProgress: 0, paid: 0, transfers: 0, events: 0, charged: 0 };
const ALL_PAID = { ...NO_PAYMENTS, successes: 50, paid: 50, transfers: 50, events: 50, charged: 50 };

async function recoverAll(afterMs: number): Promise<void> {
  processor.clock.advance(afterMs);
  while ((await processor.recoverAttempts()) > 0);
}

/** Lets the database commit the statements that accept or settle payments, but loses their results. */
function loseResults(dataSource: DataSource): void {
  const query = dataSource.query.bind(dataSource);
  jest.spyOn(dataSource, 'query').mockImplementation(async (text, parameters) => {
    const rows = await query(text, parameters);
    if (/^WITH (named|held) AS/.test(text)) throw new Error('Connection terminated unexpectedly');
    return rows;
  });
}

describe('the shared statement for fifty outcomes', () => {
  /**
   * Starts the payments, and returns when the bank has charged all of them. `respond` lets the bank respond, and
   * returns when all outcomes have arrived.
   */
  async function pay(
    payables: readonly HostedPayableDescriptor[],
  ): Promise<{ respond: () => Promise<void>; results: Promise<unknown[]> }> {
    const acquirer = processor.acquirer;
    const charge = acquirer.charge.bind(acquirer);
    let endCharges: () => void = () => undefined;
    const bankResponse = new Promise<void>((resolve) => (endCharges = resolve));
    let chargesAtBank = 0;
    jest.spyOn(acquirer, 'charge').mockImplementation(async (...args) => {
      const outcome = await charge(...args);
      chargesAtBank++;
      await bankResponse;
      return outcome;
    });
    const getErrorCode = ({ code }: { code: string }): string => code;
    const results = Promise.all(
      payables.map((payable): Promise<HostedPaymentSnapshot | string> => processor.pay(payable).catch(getErrorCode)),
    );
    await waitUntil('fifty charges', 20_000, () => Promise.resolve(chargesAtBank === payables.length));
    const respond = async (): Promise<void> => {
      const settle = jest.spyOn(processor.service.app.get(PaymentRepository), 'settle');
      endCharges();
      await waitUntil('fifty responses', 20_000, () => Promise.resolve(settle.mock.calls.length === payables.length));
    };
    return { respond, results };
  }

  test('records no outcome if its connection is lost before the commit, and the recovery queries the bank', async () => {
    const payables = buildPayables();
    const { respond, results } = await pay(payables);
    // The outcomes wait in a batch until these statements are released.
    await using held = await holdSettlements(processor, processor.service.app.get(PaymentRepository));
    await respond();
    await using lock = await lockPayables(processor, [payables[25]!]);
    const statements = spyOnStatements(processor.dataSource);
    await held.release();
    await terminateBlockedBackend(processor.dataSource);
    expect(await results).toEqual(payables.map(() => 'service.not-ready'));
    await lock.release();
    expect(statements.batches().map((ids) => ids.length)).toEqual([50]);
    expect(await readTotals(payables)).toEqual({ ...NO_PAYMENTS, inProgress: 50, charged: 50 });
    await recoverAll(2_000);
    expect(await readTotals(payables)).toEqual(ALL_PAID);
  });

  test('records all outcomes if its connection is lost after the commit, and the recovery changes nothing', async () => {
    const payables = buildPayables();
    const { respond, results } = await pay(payables);
    // The outcomes wait in a batch until these statements are released.
    await using held = await holdSettlements(processor, processor.service.app.get(PaymentRepository));
    await respond();
    loseResults(processor.dataSource);
    await held.release();
    expect(await results).toEqual(payables.map(() => 'service.not-ready'));
    jest.restoreAllMocks();
    expect(await readTotals(payables)).toEqual(ALL_PAID);
    await recoverAll(900_000);
    expect(await readTotals(payables)).toEqual(ALL_PAID);
  });
});

describe('the shared statement for fifty new payments', () => {
  /**
   * Accepts all payments in one statement of a replica. With `lock`, the connection is terminated while the statement
   * waits for the lock. Without `lock`, the statement commits and its result is lost.
   */
  async function acceptInOneStatement(payables: readonly HostedPayableDescriptor[], lock?: HeldLocks): Promise<void> {
    const replica = await startReplica(processor);
    await using held = await holdAccepts(processor, replica.payments);
    if (!lock) loseResults(replica.dataSource);
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

  test('accepts no payment if its connection is lost before the commit, and all payables can be paid immediately', async () => {
    const payables = [...buildPayables().slice(1), await createStoredPayable(processor, { expiresAt: LATER })];
    await using lock = await lockPayables(processor, payables.slice(-1));
    await acceptInOneStatement(payables, lock);
    expect(await readTotals(payables)).toEqual(NO_PAYMENTS);
    await Promise.all(payables.map((payable) => processor.pay(payable)));
    expect(await readTotals(payables)).toEqual(ALL_PAID);
  });

  test('causes no charge if its connection is lost after the commit, and a query to the bank makes all payables payable again', async () => {
    const payables = buildPayables();
    await acceptInOneStatement(payables);
    expect(await readTotals(payables)).toEqual({ ...NO_PAYMENTS, inProgress: 50 });
    await recoverAll(2_000);
    await recoverAll(8_000);
    expect(await readTotals(payables)).toEqual({ ...NO_PAYMENTS, failures: 50 });
    await Promise.all(payables.map((payable) => processor.pay(payable, { paymentNumber: 2 })));
    expect(await readTotals(payables)).toEqual({ ...ALL_PAID, failures: 50 });
  });
});
