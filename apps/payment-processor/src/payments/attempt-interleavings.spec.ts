import {
  BANK_BEHAVIOURS,
  type BankBehaviour,
  check,
  checkEnd,
  identityOf,
  PRODUCTION_RULES,
  type Rules,
  START,
  stepsFrom,
  type World,
} from '../../test/attempts/attempt-model.js';
import type { AcquirerAnswer, AttemptState, Conclusion } from './attempt.js';
import { CHARGEABLE_STATES, conclude, endOf, recoveryStep } from './attempt.js';

interface Exploration {
  /** Number of orders of all steps, from the acceptance to the last possible step. */
  readonly interleavings: bigint;
  readonly worlds: number;
}

/** Explores every order of steps, each world once. Throws at the first world that violates an invariant. */
function explore(bank: BankBehaviour, rules: Rules = PRODUCTION_RULES): Exploration {
  const known = new Map<string, bigint>();
  const orders = (world: World): bigint => {
    const id = identityOf(world);
    const counted = known.get(id);
    if (counted !== undefined) return counted;
    check(world, bank);
    const steps = stepsFrom(world, bank, rules);
    if (steps.length === 0) checkEnd(world, bank, rules);
    const count = steps.length === 0 ? 1n : steps.reduce((sum, step) => sum + orders(step), 0n);
    known.set(id, count);
    return count;
  };
  return { interleavings: orders(START), worlds: known.size };
}

test.each(BANK_BEHAVIOURS)('a bank that %s: payment and bank agree after every order of steps', (bank) => {
  const { interleavings, worlds } = explore(bank);
  process.stdout.write(`a bank that ${bank}: ${interleavings} interleavings through ${worlds} states\n`);
  expect(worlds).toBeGreaterThan(10_000);
});

type Conclude = Rules['conclude'];
const ends = (answer: Parameters<typeof endOf>[0]): Conclusion => ({ kind: 'end', end: endOf(answer) });
const isOpen = (state: AttemptState): boolean => CHARGEABLE_STATES.includes(state) || state === 'reversing';
const anyTransition = (): boolean => true;
/** The production conclusion, except for the pairs that `other` defines. */
const except =
  (other: (state: AttemptState, answer: AcquirerAnswer) => Conclusion | undefined): Conclude =>
  (state, answer) =>
    other(state, answer) ?? conclude(state, answer);

/** With any safeguard removed, the exploration finds an order in which payment and bank contradict each other. */
test.each<[string, BankBehaviour, Partial<Rules>, string]>([
  [
    'the acquirer is called to reverse before that decision is committed',
    'approves',
    {
      decide: (state) => state,
      isTransitionAllowed: anyTransition,
      conclude: except((state, answer) => (answer.kind === 'reversed' && isOpen(state) ? ends(answer) : undefined)),
    },
    'success, but at the bank reversed',
  ],
  [
    'the decision is committed in any state of the row',
    'approves',
    { decide: () => 'reversing', isTransitionAllowed: anyTransition },
    'success, but at the bank reversed',
  ],
  [
    'an approval ends an attempt that is being reversed',
    'approves',
    {
      conclude: except((state, answer) => (answer.kind === 'approved' && isOpen(state) ? ends(answer) : undefined)),
      isTransitionAllowed: anyTransition,
    },
    'success, but at the bank reversed',
  ],
  [
    'an unknown outcome counts as a failure',
    'approves',
    {
      conclude: except((state, { kind }) =>
        kind === 'unknown' && isOpen(state) ? ends({ kind: 'notAttempted' }) : undefined,
      ),
    },
    'failed, and the bank holds its money',
  ],
  [
    'an unconfirmed reversal counts as confirmed',
    'approves',
    {
      conclude: except((state, { kind }) =>
        kind === 'unconfirmed' && isOpen(state) ? ends({ kind: 'neverCharged' }) : undefined,
      ),
    },
    'failed, and the bank holds its money',
  ],
  [
    'a decided reversal is queried instead of retried',
    'approves',
    {
      recoveryStep: (state, ageMs) => recoveryStep(state === 'reversing' ? 'unknown' : state, Math.min(ageMs, 10_000)),
    },
    'stays reversing',
  ],
  [
    'an approval after the end is dropped',
    'charges a blocked key',
    { conclude: except((state, { kind }) => (kind === 'approved' && !isOpen(state) ? { kind: 'none' } : undefined)) },
    'failed, and in the end at the bank approved',
  ],
  [
    'an approval after the end is recorded, and not reversed',
    'charges a blocked key',
    {
      conclude: except((state, { kind }) =>
        kind === 'approved' && !isOpen(state) && state !== 'approved'
          ? { kind: 'incident', needsReversal: false }
          : undefined,
      ),
    },
    'failed, and in the end at the bank approved',
  ],
])('without this safeguard the test finds the contradiction: %s', (_, bank, broken, message) => {
  expect(() => explore(bank, { ...PRODUCTION_RULES, ...broken })).toThrow(message);
});
