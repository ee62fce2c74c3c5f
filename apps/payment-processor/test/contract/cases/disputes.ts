import type { DisputeKind } from '../contract-terms.js';
import type { ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

async function payAndDispute(world: ContractWorld, kinds: readonly DisputeKind[]): Promise<string> {
  const { paymentReference } = await world.pay();
  await world.settle();
  for (const kind of kinds) {
    world.processor.clock.advance(60_000);
    await world.driver.dispute(paymentReference, kind);
    if (world.deliversReports) await world.deliverReports();
  }
  return paymentReference;
}

interface StoredDispute {
  readonly stage: string;
  readonly amount: number;
  readonly hasDeadline: boolean;
  /** Kinds of the booked transfers, in their order. */
  readonly transfers: readonly string[];
}

async function readDispute({ processor }: ContractWorld, paymentReference: string): Promise<StoredDispute[]> {
  return processor.dataSource.query<StoredDispute[]>(
    `SELECT d.stage, d.amount, d.respond_by IS NOT NULL AS "hasDeadline",
            (SELECT coalesce(jsonb_agg(t.kind ORDER BY t.txid, t.position), '[]') FROM transfers t
              WHERE t.payment_id = d.payment_id AND t.kind IN ('dispute', 'disputeReversal')) AS transfers
       FROM disputes d JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
    [paymentReference],
  );
}

export const DISPUTE_CASES: ContractCases = {
  'a dispute without a debit': async (world) => {
    const paymentReference = await payAndDispute(world, ['inquiry']);
    expect(await readDispute(world, paymentReference)).toEqual([
      { stage: 'inquiry', amount: 12_345, hasDeadline: true, transfers: [] },
    ]);
  },

  'a dispute is debited and lost': async (world) => {
    const paymentReference = await payAndDispute(world, ['opened', 'debited']);
    expect(await readDispute(world, paymentReference)).toEqual([
      { stage: 'debited', amount: 12_345, hasDeadline: true, transfers: ['dispute'] },
    ]);
    await world.driver.dispute(paymentReference, 'lost');
    await world.deliverReports();
    expect(await readDispute(world, paymentReference)).toEqual([
      { stage: 'lost', amount: 12_345, hasDeadline: false, transfers: ['dispute'] },
    ]);
  },

  'a dispute is debited, reversed and debited again': async (world) => {
    const paymentReference = await payAndDispute(world, ['opened', 'debited', 'defended', 'reversed']);
    expect(await readDispute(world, paymentReference)).toMatchObject([
      { stage: 'reversed', transfers: ['dispute', 'disputeReversal'] },
    ]);
    await world.driver.dispute(paymentReference, 'debitedAgain');
    await world.deliverReports();
    expect(await readDispute(world, paymentReference)).toMatchObject([
      { stage: 'debited', transfers: ['dispute', 'disputeReversal', 'dispute'] },
    ]);
  },

  'the reports of a dispute arrive twice and in the reverse order': async (world) => {
    const { paymentReference } = await world.pay();
    await world.settle();
    world.deliversReports = false;
    for (const kind of ['opened', 'debited', 'defended', 'reversed', 'won'] as const) {
      world.processor.clock.advance(60_000);
      await world.driver.dispute(paymentReference, kind);
    }
    await world.deliverReports({ order: 'newest-first' });
    await world.driver.repeatReports(paymentReference);
    await world.applyReports();
    expect(await readDispute(world, paymentReference)).toMatchObject([
      { stage: 'won', hasDeadline: false, transfers: ['dispute', 'disputeReversal'] },
    ]);
  },
};
