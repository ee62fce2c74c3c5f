import {
  type Bank,
  BANKS,
  check,
  checkEnd,
  identityOf,
  PRODUCT,
  type Rules,
  START,
  stepsFrom,
  type World,
} from '../../test/attempts/attempt-model.js';
import type { AcquirerAnswer, AttemptState, Conclusion } from './attempt.js';
import { CHARGEABLE_STATES, conclude, endOf, recoveryStep } from './attempt.js';

interface Explored {
  /** Different orders of all steps, from the acceptance until nothing is left to happen. */
  readonly interleavings: bigint;
  readonly worlds: number;
}

/** Every order of steps, each world once. Throws at the first one that breaks a rule. */
function explore(bank: Bank, rules: Rules = PRODUCT): Explored {
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

test.each(BANKS)('a bank that %s: whatever happens in whatever order, payment and bank agree', (bank) => {
  const { interleavings, worlds } = explore(bank);
  process.stdout.write(`a bank that ${bank}: ${interleavings} interleavings through ${worlds} states\n`);
  expect(worlds).toBeGreaterThan(10_000);
});

type Conclude = Rules['conclude'];
const ends = (answer: Parameters<typeof endOf>[0]): Conclusion => ({ kind: 'end', end: endOf(answer) });
const isOpen = (state: AttemptState): boolean => CHARGEABLE_STATES.includes(state) || state === 'reversing';
const anyMayFollow = (): boolean => true;
/** The product's conclusion, but for the pairs that `other` knows. */
const but =
  (other: (state: AttemptState, answer: AcquirerAnswer) => Conclusion | undefined): Conclude =>
  (state, answer) =>
    other(state, answer) ?? conclude(state, answer);

/** Each safeguard taken out: the exploration finds an order in which payment and bank contradict each other. */
test.each<[string, Bank, Partial<Rules>, string]>([
  [
    'the acquirer is told to reverse before that decision is committed',
    'approves',
    {
      decide: (state) => state,
      mayFollow: anyMayFollow,
      conclude: but((state, answer) => (answer.kind === 'reversed' && isOpen(state) ? ends(answer) : undefined)),
    },
    'success, but at the bank givenBack',
  ],
  [
    'the decision is committed whatever the row says',
    'approves',
    { decide: () => 'reversing', mayFollow: anyMayFollow },
    'success, but at the bank givenBack',
  ],
  [
    'an approval ends an attempt that is being reversed',
    'approves',
    {
      conclude: but((state, answer) => (answer.kind === 'approved' && isOpen(state) ? ends(answer) : undefined)),
      mayFollow: anyMayFollow,
    },
    'success, but at the bank givenBack',
  ],
  [
    'an unknown outcome is taken for a failure',
    'approves',
    {
      conclude: but((state, { kind }) =>
        kind === 'unknown' && isOpen(state) ? ends({ kind: 'notAttempted' }) : undefined,
      ),
    },
    'failed, and the bank holds its money',
  ],
  [
    'an unconfirmed reversal is taken for a confirmed one',
    'approves',
    {
      conclude: but((state, { kind }) =>
        kind === 'unconfirmed' && isOpen(state) ? ends({ kind: 'neverCharged' }) : undefined,
      ),
    },
    'failed, and the bank holds its money',
  ],
  [
    'a decided reversal is asked about instead of repeated',
    'approves',
    {
      recoveryStep: (state, ageMs) => recoveryStep(state === 'reversing' ? 'unknown' : state, Math.min(ageMs, 10_000)),
    },
    'stays reversing',
  ],
  [
    'an approval after the end is dropped',
    'breaks its word',
    { conclude: but((state, { kind }) => (kind === 'approved' && !isOpen(state) ? { kind: 'none' } : undefined)) },
    'failed, and in the end at the bank approved',
  ],
  [
    'an approval after the end is recorded, and not given back',
    'breaks its word',
    {
      conclude: but((state, { kind }) =>
        kind === 'approved' && !isOpen(state) && state !== 'approved'
          ? { kind: 'incident', giveBack: false }
          : undefined,
      ),
    },
    'failed, and in the end at the bank approved',
  ],
])('without this safeguard it finds the contradiction: %s', (_, bank, broken, message) => {
  expect(() => explore(bank, { ...PRODUCT, ...broken })).toThrow(message);
});
