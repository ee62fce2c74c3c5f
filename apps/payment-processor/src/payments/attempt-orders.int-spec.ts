/**
 * The real use cases on PostgreSQL, in every order of their steps: the process that charges stops after the acceptance, before the
 * bank handles the charge and before the response; the one that recovers stops before the query, before the decision to reverse,
 * before the bank handles the reversal and before the response. Either may crash at a stop.
 */
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { AttemptRepository } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';

/** A process that stops at each of its gates until it is released, or dies there. */
class Stepped {
  private gate: { open: () => void; die: (error: Error) => void } | undefined;
  private isOver = false;
  private stopped: () => void = () => undefined;

  start(work: () => Promise<unknown>): void {
    const over = (): void => {
      this.isOver = true;
      this.stopped();
    };
    void work().then(over, over);
  }

  stop(): Promise<void> {
    return new Promise((open, die) => {
      this.gate = { open, die };
      this.stopped();
    });
  }

  /** Resolves when the process is at a gate, or has ended. */
  async settled(): Promise<void> {
    if (this.gate || this.isOver) return;
    await new Promise<void>((resolve) => (this.stopped = resolve));
  }

  /** Continues to the next gate, or to the end. */
  async step(dies: boolean): Promise<void> {
    await this.settled();
    const gate = this.gate;
    this.gate = undefined;
    if (dies) gate?.die(new Error('the process died here'));
    else gate?.open();
    await this.settled();
  }
}

let processor: Processor;
let payer = new Stepped();
let recovery = new Stepped();
let isStepped = false;
beforeAll(async () => {
  processor = await startProcessor();
  const { app } = processor.service;
  const [acquirer, attempts, payments] = [app.get(Acquirer), app.get(AttemptRepository), app.get(PaymentRepository)];
  /** Adds a gate before the method, after it, or both. */
  const around = <T extends object, K extends keyof T>(of: T, name: K, who: () => Stepped, where: string): void => {
    const real = (of[name] as (...given: unknown[]) => Promise<unknown>).bind(of);
    const stopped = async (...given: unknown[]): Promise<unknown> => {
      if (!isStepped) return real(...given);
      if (where.includes('before')) await who().stop();
      const answer = await real(...given);
      if (where.includes('after')) await who().stop();
      return answer;
    };
    Object.assign(of, { [name]: stopped });
  };
  around(payments, 'accept', () => payer, 'after');
  around(acquirer, 'charge', () => payer, 'before, after');
  around(acquirer, 'getChargeStatus', () => recovery, 'before');
  around(attempts, 'beginReversal', () => recovery, 'before');
  around(acquirer, 'reverse', () => recovery, 'before, after');
});
afterAll(() => processor.stop());

/** The step that takes ten seconds: the charging process is frozen before its call, or its call is in transit. */
const DELAYS = ['frozen before the call', 'slow in transit to the bank'] as const;
type Delay = (typeof DELAYS)[number];
const STEPS = {
  'frozen before the call': { payer: 3, recovery: 4 },
  'slow in transit to the bank': { payer: 2, recovery: 4 },
};
type Order = ('payer' | 'recovery')[];
function ordersOf(payers: number, recoveries: number): Order[] {
  if (payers === 0 && recoveries === 0) return [[]];
  const first = (who: Order[number], rest: Order[]): Order[] => rest.map((order) => [who, ...order]);
  return [
    ...(payers > 0 ? first('payer', ordersOf(payers - 1, recoveries)) : []),
    ...(recoveries > 0 ? first('recovery', ordersOf(payers, recoveries - 1)) : []),
  ];
}

/** The process that crashes, and its stop. */
type Death = { readonly who: Order[number]; readonly at: number } | undefined;

async function run(order: Order, delay: Delay, card: string, death: Death): Promise<string> {
  const payable = aPayable({ expiresAt: '2999-01-01T00:00:00.000Z' });
  const binding = { sessionId: payable.payableId, try: 1, expiresAt: '2999-01-01T00:00:00.000Z' };
  const encrypted = await encryptedCard(processor.cardKey, binding, { cardNumber: card });
  [payer, recovery, isStepped] = [new Stepped(), new Stepped(), true];
  payer.start(() => processor.pay(payable, { command: { encryptedCard: encrypted } }));
  await payer.settled();
  if (delay === 'slow in transit to the bank') await payer.step(false);
  processor.clock.advance(10_000);
  recovery.start(() => processor.recover());
  await recovery.settled();
  const stops = { payer: 0, recovery: 0 };
  for (const who of order) {
    const dies = death?.who === who && death.at === ++stops[who];
    await (who === 'payer' ? payer : recovery).step(dies);
  }
  isStepped = false;
  // After any crash, the jobs of another process end the attempt.
  for (let round = 1; round <= 3; round++) {
    processor.clock.advance(900_000);
    await processor.recover();
    await processor.clearUp();
  }
  return outcomeOf(payable.payableId);
}

async function outcomeOf(payableId: string): Promise<string> {
  const [row] = await processor.dataSource.query<
    {
      reference: string;
      payment: string;
      attempt: string;
      transfers: number;
      heldByBank: number;
      succeeded: number;
      incidents: number;
    }[]
  >(
    `SELECT p.payment_reference AS reference, p.state AS payment, a.state AS attempt,
            (SELECT count(*) FROM transfers t WHERE t.payment_id = p.payment_id AND t.kind = 'capture') AS transfers,
            (SELECT coalesce(sum(CASE t.kind WHEN 'lateApproval' THEN t.amount ELSE -t.amount END), 0)
               FROM transfers t WHERE t.payment_id = p.payment_id AND t.kind IN ('lateApproval', 'reversal'))::int AS "heldByBank",
            (SELECT count(*) FROM event_log e WHERE e.aggregate_id = p.payment_id::text AND e.type = 'payment.succeeded.v1') AS succeeded,
            (SELECT count(*) FROM incidents i WHERE i.attempt_id = a.attempt_id) AS incidents
       FROM payments p JOIN attempts a USING (payment_id) WHERE p.payable_id = $1`,
    [payableId],
  );
  const { reference, payment, attempt, transfers, heldByBank, succeeded, incidents } = row!;
  const isCharged = processor.charged().includes(reference);
  // Payment, ledger, webhook and bank agree.
  expect(heldByBank).toBe(0);
  expect([payableId, payment, isCharged, transfers, succeeded]).toEqual(
    payment === 'success' ? [payableId, 'success', true, 1, 1] : [payableId, 'failed', false, 0, 0],
  );
  return `${payment}, ${attempt}${incidents > 0 ? ', incident' : ''}`;
}

async function outcomesOf(delay: Delay, card: string, death?: Death): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  const { payer: payers, recovery: recoveries } = STEPS[delay];
  const orders = ordersOf(payers, recoveries);
  for (const order of orders) {
    const outcome = await run(order, delay, card, death);
    seen[outcome] = (seen[outcome] ?? 0) + 1;
  }
  const dead = death ? `, the ${death.who} dies at stop ${death.at}` : '';
  process.stdout.write(`${delay}${dead}: ${orders.length} orders: ${JSON.stringify(seen)}\n`);
  return seen;
}

test.each<[Delay, string[]]>([
  ['frozen before the call', ['failed, notAttempted', 'success, approved']],
  ['slow in transit to the bank', ['failed, notAttempted', 'failed, reversed, incident', 'success, approved']],
])(
  'with the delay "%s" an approved payment succeeds and is charged at the bank, or fails and is reversed there',
  async (delay, outcomes) => {
    expect(Object.keys(await outcomesOf(delay, CARDS.approved)).sort()).toEqual(outcomes);
  },
);

test.each(DELAYS)('with the delay "%s" a declined payment never succeeds, and causes no incident', async (delay) => {
  expect(Object.keys(await outcomesOf(delay, CARDS.declined)).sort()).toEqual([
    'failed, declined',
    'failed, notAttempted',
  ]);
});

const DEATHS = DELAYS.flatMap((delay) =>
  (['payer', 'recovery'] as const).flatMap((who) =>
    Array.from({ length: STEPS[delay][who] }, (_, nth) => ({ delay, who, at: nth + 1 })),
  ),
);

test.each(DEATHS)(
  'with the delay "$delay" payment and bank agree after the $who crashes at stop $at',
  async ({ delay, ...death }) => {
    expect(await outcomesOf(delay, CARDS.approved, death)).not.toEqual({});
  },
);
