/**
 * Runs the production code on PostgreSQL in every order of the steps of two processes. The charging process stops after
 * the acceptance, before the bank handles the charge and before the response. The recovering process stops before the
 * query, before the decision to reverse, before the bank handles the reversal and before the response. Either process
 * may crash at a stop.
 */
import { buildPayable } from '../../test/builders.js';
import { CARDS, encryptCard } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { AttemptRepository } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';

/** A simulated process that stops at each of its stops, until a test lets it continue or crash. */
class SteppedProcess {
  private currentStop: { continue: () => void; crash: (error: Error) => void } | undefined;
  private hasEnded = false;
  private notifyStopped: () => void = () => undefined;

  start(run: () => Promise<unknown>): void {
    const onEnd = (): void => {
      this.hasEnded = true;
      this.notifyStopped();
    };
    void run().then(onEnd, onEnd);
  }

  stop(): Promise<void> {
    return new Promise((resume, crash) => {
      this.currentStop = { continue: resume, crash };
      this.notifyStopped();
    });
  }

  /** Resolves when the process has reached a stop, or has ended. */
  async reachesStop(): Promise<void> {
    if (this.currentStop || this.hasEnded) return;
    await new Promise<void>((resolve) => (this.notifyStopped = resolve));
  }

  /** Lets the process continue to its next stop or to its end, or lets it crash. */
  async step(crashes: boolean): Promise<void> {
    await this.reachesStop();
    const { currentStop } = this;
    this.currentStop = undefined;
    if (crashes) currentStop?.crash(new Error('simulated crash'));
    else currentStop?.continue();
    await this.reachesStop();
  }
}

let processor: Processor;
let payer = new SteppedProcess();
let recovery = new SteppedProcess();
let isStepped = false;
beforeAll(async () => {
  processor = await startProcessor();
  const { app } = processor.service;
  const [acquirer, attempts, payments] = [processor.acquirer, app.get(AttemptRepository), app.get(PaymentRepository)];
  /** Adds stops to a method. `where` is 'before', 'after' or 'before, after'. */
  const addStops = <T extends object, K extends keyof T>(
    target: T,
    name: K,
    getProcess: () => SteppedProcess,
    where: string,
  ): void => {
    const original = (target[name] as (...args: unknown[]) => Promise<unknown>).bind(target);
    const methodWithStops = async (...args: unknown[]): Promise<unknown> => {
      if (!isStepped) return original(...args);
      if (where.includes('before')) await getProcess().stop();
      const result = await original(...args);
      if (where.includes('after')) await getProcess().stop();
      return result;
    };
    Object.assign(target, { [name]: methodWithStops });
  };
  addStops(payments, 'accept', () => payer, 'after');
  addStops(acquirer, 'charge', () => payer, 'before, after');
  addStops(acquirer, 'getChargeStatus', () => recovery, 'before');
  addStops(attempts, 'beginReversal', () => recovery, 'before');
  addStops(acquirer, 'reverse', () => recovery, 'before, after');
});
afterAll(() => processor.stop());

/**
 * The step that lasts ten seconds: the charging process is frozen before its call, or its call is in transit to the
 * bank.
 */
const DELAYS = ['frozen before the call', 'slow in transit to the bank'] as const;
type Delay = (typeof DELAYS)[number];
/** Number of steps of each process, from its first stop in the test to its end. */
const STEPS = {
  'frozen before the call': { payer: 3, recovery: 4 },
  'slow in transit to the bank': { payer: 2, recovery: 4 },
};
type Order = ('payer' | 'recovery')[];
function listOrders(payers: number, recoveries: number): Order[] {
  if (payers === 0 && recoveries === 0) return [[]];
  const prepend = (name: Order[number], rest: Order[]): Order[] => rest.map((order) => [name, ...order]);
  return [
    ...(payers > 0 ? prepend('payer', listOrders(payers - 1, recoveries)) : []),
    ...(recoveries > 0 ? prepend('recovery', listOrders(payers, recoveries - 1)) : []),
  ];
}

/** The process that crashes, and the number of the stop at which it crashes. */
type Crash = { readonly process: Order[number]; readonly stop: number } | undefined;

async function runOrder(order: Order, delay: Delay, card: string, crash: Crash): Promise<string> {
  const payable = buildPayable({ expiresAt: '2999-01-01T00:00:00.000Z' });
  const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt: '2999-01-01T00:00:00.000Z' };
  const encrypted = await encryptCard(processor.cardKey, binding, { cardNumber: card });
  [payer, recovery, isStepped] = [new SteppedProcess(), new SteppedProcess(), true];
  payer.start(() => processor.pay(payable, { command: { encryptedCard: encrypted } }));
  await payer.reachesStop();
  if (delay === 'slow in transit to the bank') await payer.step(false);
  processor.clock.advance(10_000);
  recovery.start(() => processor.recoverAttempts());
  await recovery.reachesStop();
  const stops = { payer: 0, recovery: 0 };
  for (const name of order) {
    const crashes = crash?.process === name && crash.stop === ++stops[name];
    await (name === 'payer' ? payer : recovery).step(crashes);
  }
  isStepped = false;
  // After any crash, the jobs of another process end the attempt.
  for (let round = 1; round <= 3; round++) {
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await processor.runCleanup();
  }
  return readOutcome(payable.payableId);
}

async function readOutcome(payableId: string): Promise<string> {
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
  const isCharged = processor.chargedReferences().includes(reference);
  // Payment, ledger, event and bank are consistent.
  expect(heldByBank).toBe(0);
  expect([payableId, payment, isCharged, transfers, succeeded]).toEqual(
    payment === 'success' ? [payableId, 'success', true, 1, 1] : [payableId, 'failed', false, 0, 0],
  );
  return `${payment}, ${attempt}${incidents > 0 ? ', incident' : ''}`;
}

async function countOutcomes(delay: Delay, card: string, crash?: Crash): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const { payer: payers, recovery: recoveries } = STEPS[delay];
  const orders = listOrders(payers, recoveries);
  for (const order of orders) {
    const outcome = await runOrder(order, delay, card, crash);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  const crashText = crash ? `, the ${crash.process} crashes at stop ${crash.stop}` : '';
  process.stdout.write(`${delay}${crashText}: ${orders.length} orders: ${JSON.stringify(counts)}\n`);
  return counts;
}

test.each<[Delay, string[]]>([
  ['frozen before the call', ['failed, notAttempted', 'success, approved']],
  ['slow in transit to the bank', ['failed, notAttempted', 'failed, reversed, incident', 'success, approved']],
])(
  'with the delay "%s", a payment with an approved card succeeds and stays charged, or fails and its charge is prevented or reversed',
  async (delay, outcomes) => {
    expect(Object.keys(await countOutcomes(delay, CARDS.approved)).sort()).toEqual(outcomes);
  },
);

test.each(DELAYS)('with the delay "%s", a declined payment never succeeds, and causes no incident', async (delay) => {
  expect(Object.keys(await countOutcomes(delay, CARDS.declined)).sort()).toEqual([
    'failed, declined',
    'failed, notAttempted',
  ]);
});

const CRASHES = DELAYS.flatMap((delay) =>
  (['payer', 'recovery'] as const).flatMap((name) =>
    Array.from({ length: STEPS[delay][name] }, (_, nth) => ({ delay, process: name, stop: nth + 1 })),
  ),
);

test.each(CRASHES)(
  'with the delay "$delay", payment and bank are consistent after the $process crashes at stop $stop',
  async ({ delay, ...crash }) => {
    expect(await countOutcomes(delay, CARDS.approved, crash)).not.toEqual({});
  },
);
