import { randomUUID } from 'node:crypto';
import type { PayableState, PaymentState } from '@svc/contracts';
import fc from 'fast-check';
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PAYABLE_TRANSITIONS } from '../payables/payable.js';
import { ATTEMPT_TRANSITIONS, type AttemptState } from './attempt.js';
import { PAYMENT_TRANSITIONS } from './payment.js';

// Some hundred round trips for each run, possibly on a busy machine.
let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

/** Tries every pair of states on a row of its own, and returns the pairs that the database allows. */
async function allowedByDatabase<S extends string>(
  table: string,
  id: string,
  states: readonly S[],
  update: string,
  setUp: (state: S) => Promise<string>,
): Promise<string[]> {
  const allowed: string[] = [];
  for (const from of states) {
    for (const to of states.filter((state) => state !== from)) {
      const row = await setUp(from);
      const answer = await processor.dataSource.query(`UPDATE ${table} SET ${update} WHERE ${id} = $1`, [row, to]).then(
        () => 'passes',
        ({ message }: { message: string }) => message,
      );
      expect(answer).toMatch(/^passes$|cannot go from/);
      if (answer === 'passes') allowed.push(`${from} → ${to}`);
    }
  }
  return allowed;
}

const listed = (transitions: Record<string, readonly string[]>): string[] =>
  Object.entries(transitions).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));

async function aPaymentRow(state: PaymentState): Promise<string> {
  const [paymentId, payableId] = [randomUUID(), randomUUID()];
  await processor.dataSource.query(
    `WITH y AS (INSERT INTO payables VALUES ($2, 'test', 1, 1, 100, 'ZAR', now(), 5, '{}', 'open', NULL, 0, 1, now(), now()))
     INSERT INTO payments VALUES ($1, $2, gen_random_uuid(), ($1::uuid)::text, $3, 100, 0, CASE WHEN $3::text = 'success' THEN 100 ELSE 0 END,
       '**** 0000', CASE WHEN $3 = 'failed' THEN '[1]'::jsonb ELSE '[]' END, now(), now(), 1)`,
    [paymentId, payableId, state],
  );
  return paymentId;
}

async function anAttemptRow(state: AttemptState): Promise<string> {
  const attemptId = randomUUID();
  const ended = !['started', 'unknown', 'reversing'].includes(state);
  await processor.dataSource.query(
    `INSERT INTO attempts VALUES ($1, $2, 'simulated', $3, NULL, now(), CASE WHEN $4::boolean THEN now() END, 0, CASE WHEN NOT $4 THEN now() + interval '1 year' END)`,
    [attemptId, await aPaymentRow('processing'), state, ended],
  );
  return attemptId;
}

test('the database allows exactly the listed transitions of a payment', async () => {
  const states = Object.keys(PAYMENT_TRANSITIONS) as PaymentState[];
  const update = `state = $2, processed_amount = CASE WHEN $2 = 'success' THEN 100 ELSE 0 END, errors = CASE WHEN $2 = 'failed' THEN '[1]'::jsonb ELSE '[]' END`;
  expect((await allowedByDatabase('payments', 'payment_id', states, update, aPaymentRow)).sort()).toEqual(
    listed(PAYMENT_TRANSITIONS).sort(),
  );
});

test('the database allows exactly the listed transitions of an attempt', async () => {
  const states = Object.keys(ATTEMPT_TRANSITIONS) as AttemptState[];
  const open = `$2 IN ('started', 'unknown', 'reversing')`;
  const update = `state = $2, ended_at = CASE WHEN NOT ${open} THEN now() END, next_ask_at = CASE WHEN ${open} THEN now() + interval '1 year' END`;
  expect((await allowedByDatabase('attempts', 'attempt_id', states, update, anAttemptRow)).sort()).toEqual(
    listed(ATTEMPT_TRANSITIONS).sort(),
  );
});

test('the ledger cannot be changed, by any role', async () => {
  await processor.pay(aPayable());
  await processor.seal();
  for (const table of ['transfers', 'ledger_seals', 'ledger_days']) {
    const column = table === 'transfers' ? 'amount' : 'seal_number';
    for (const statement of [`UPDATE ${table} SET ${column} = 1`, `DELETE FROM ${table}`, `TRUNCATE ${table}`])
      await expect(processor.superuser.query(statement)).rejects.toMatchObject({ constraint: `${table}_append_only` });
  }
});

type Step =
  | { kind: 'pay'; card: string }
  | { kind: 'answer'; answer: 'confirm' | 'refuse' }
  | { kind: 'recover' }
  | { kind: 'close' }
  | { kind: 'pass'; seconds: number };

/**
 * Any sequence of payments with any card, of verifications, of passing time, of recovery and of closing, against a model of three rules:
 * at most one charge remains; success, charge and transfer correspond; the payable takes only listed steps.
 */
test('after any actions of payers, a payable is charged at most once and the books agree', async () => {
  const cards = Object.values(CARDS);
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('pay' as const),
        card: fc.constantFrom(CARDS.approved, CARDS.verified, ...cards),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('answer' as const), answer: fc.constantFrom('confirm', 'refuse') }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: 'recover' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'close' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 2, 10, 60, 900) }),
    },
  );
  const approvedPay = { kind: 'pay' as const, card: CARDS.approved };
  const declinedPay = { kind: 'pay' as const, card: CARDS.declined };
  const verifiedPay = { kind: 'pay' as const, card: CARDS.verified };
  const unansweredPay = { kind: 'pay' as const, card: CARDS.dropsTheAnswer };
  const answers = (answer: 'confirm' | 'refuse') => ({ kind: 'answer' as const, answer });
  const close = { kind: 'close' as const };
  const later = { kind: 'pass' as const, seconds: 60 };
  /** Sequences that random runs produce too rarely. */
  const examples: [Step[]][] = [
    [[approvedPay, approvedPay, approvedPay, close]],
    [[...Array<Step>(5).fill(declinedPay), approvedPay, close]],
    [[close, approvedPay]],
    [[unansweredPay, close, approvedPay, later, { kind: 'recover' }]],
    [[verifiedPay, verifiedPay, answers('confirm')]],
    [[verifiedPay, answers('refuse'), approvedPay]],
  ];
  const seen = new Map<string, number>();
  const count = (outcome: string): void => void seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const payable = aPayable({ expiresAt: '2999-01-01T00:00:00.000Z' });
      let now: CurrentState = NOTHING_YET;
      for (const one of steps) {
        const before = now;
        if (one.kind === 'pass') processor.clock.advance(one.seconds * 1_000);
        if (one.kind === 'answer') count(`answered: ${await answerOnce(payable, one.answer)}`);
        if (one.kind === 'recover') {
          await processor.recover();
          await processor.clearUp();
        }
        if (one.kind === 'close') count(`close: ${await closeOnce(payable)}`);
        if (one.kind === 'pay') count(`pay: ${await payOnce(payable, one.card, now.tries + 1)}`);
        now = await look(payable.payableId);
        if (one.kind === 'recover' && before.underWay > now.underWay) count('recovered');
        // While the bank is being queried, it may or may not have charged.
        const permitted = now.successes > 0 ? [1] : now.underWay > 0 ? [0, 1] : [0];
        expect(permitted).toContain(now.charges);
        expect([now.transfers, now.payable === 'paid']).toEqual([now.successes, now.successes > 0]);
      }
      await expectListedSteps(payable.payableId);
    }),
    { numRuns: 40, examples },
  );
  expect([...seen.keys()].sort()).toEqual(OUTCOMES);
  // The explicit examples produce these outcomes often enough, so no run fails by chance.
  for (const outcome of ['pay: success', 'pay: failed', 'pay: verificationRequired', 'pay: payable.paid'])
    expect([outcome, seen.get(outcome)! >= 3]).toEqual([outcome, true]);
});

/** All possible outcomes of a step; each of them occurs. */
const OUTCOMES = [
  'answered: failed',
  'answered: nothing was asked',
  'answered: success',
  'close: closed',
  'close: payable.paid',
  'close: payment.in-progress',
  'close: refused',
  'pay: failed',
  'pay: payable.closed',
  'pay: payable.paid',
  'pay: payable.refused',
  'pay: payment.in-progress',
  'pay: processing',
  'pay: success',
  'pay: verificationRequired',
  'recovered',
];

const outcomeOf = (made: Promise<{ state: string }>): Promise<string> =>
  made.then(
    ({ state }) => state,
    ({ code }: { code: string }) => code,
  );

async function payOnce(payable: ReturnType<typeof aPayable>, card: string, nth: number): Promise<string> {
  const binding = { sessionId: payable.payableId, try: nth, expiresAt: '2999-01-01T00:00:00.000Z' };
  const encrypted = await encryptedCard(processor.cardKey, binding, { cardNumber: card });
  return outcomeOf(processor.pay(payable, { try: nth, command: { encryptedCard: encrypted } }));
}

/** Confirms or refuses at the bank and returns to the page, as the payer. Returns the state of the payment. */
async function answerOnce(payable: ReturnType<typeof aPayable>, answer: 'confirm' | 'refuse'): Promise<string> {
  const waiting = (await processor.check(payable)).find(({ state }) => state === 'verificationRequired');
  if (!waiting) return 'nothing was asked';
  await processor.answerChallenge(waiting, answer);
  processor.clock.advance(1_000);
  const now = await processor.check(payable);
  return now.find(({ paymentReference }) => paymentReference === waiting.paymentReference)?.state ?? 'gone';
}

const closeOnce = (payable: ReturnType<typeof aPayable>): Promise<string> => outcomeOf(processor.close(payable));

interface CurrentState {
  readonly payable: string;
  readonly tries: number;
  readonly successes: number;
  readonly underWay: number;
  readonly transfers: number;
  readonly charges: number;
}

const NOTHING_YET: CurrentState = { payable: 'open', tries: 0, successes: 0, underWay: 0, transfers: 0, charges: 0 };

async function look(payableId: string): Promise<CurrentState> {
  const [row] = await processor.dataSource.query<(Omit<CurrentState, 'charges'> & { references: string[] })[]>(
    `SELECT y.state AS payable, y.tries, count(*) FILTER (WHERE p.state = 'success') AS successes,
            count(*) FILTER (WHERE p.state = 'processing') AS "underWay", count(t.transfer_id) AS transfers, array_agg(p.payment_reference) AS references
       FROM payables y JOIN payments p USING (payable_id) LEFT JOIN transfers t USING (payment_id) WHERE payable_id = $1 GROUP BY y.state, y.tries`,
    [payableId],
  );
  if (!row) return NOTHING_YET;
  const charged = new Set(processor.charged());
  return { ...row, charges: row.references.filter((reference) => charged.has(reference)).length };
}

/** Every step is published with its version, so none is missed: each must be a listed one. */
async function expectListedSteps(payableId: string): Promise<void> {
  const steps = await processor.dataSource.query<{ state: PayableState; version: number }[]>(
    `SELECT DISTINCT payable->>'state' AS state, (payable->>'version')::int AS version
       FROM event_log, coalesce(payload->'payable', payload) AS payable
      WHERE payable->>'payableId' = $1 AND type <> 'session.created.v1' ORDER BY version`,
    [payableId],
  );
  const states: PayableState[] = ['open', ...steps.map(({ state }) => state)];
  expect(steps.map(({ version }) => version)).toEqual(steps.map((_, index) => index + 2));
  // A verification that failed while the payable was open changes only the payable's version.
  const moves = steps.map(({ state }, index) => [states[index], state]).filter(([from, to]) => from !== to);
  const taken = moves.map(([from, to]) => `${from} → ${to}`);
  expect(taken.filter((step) => !listed(PAYABLE_TRANSITIONS).includes(step))).toEqual([]);
}
