import {
  BANK_BEHAVIOURS,
  type BankBehaviour,
  checkFinalInvariants,
  checkInvariants,
  INITIAL_WORLD,
  listNextWorlds,
  PRODUCTION_RULES,
  type Rules,
  type World,
  worldKey,
} from '../../test/attempts/attempt-model.js';
import type { AcquirerResponse, AttemptState, Conclusion } from './attempt.js';
import { attemptEndFor, CHARGEABLE_STATES, conclude, recoveryStep } from './attempt.js';

interface Exploration {
  /** Number of possible orders of the steps, from the acceptance to the last step. */
  readonly interleavings: bigint;
  readonly worlds: number;
}

/**
 * Explores every order of steps, but each world (state of the model) only once. Throws at the first world that violates
 * an invariant.
 */
function explore(bank: BankBehaviour, rules: Rules = PRODUCTION_RULES): Exploration {
  const countsById = new Map<string, bigint>();
  const countOrders = (world: World): bigint => {
    const id = worldKey(world);
    const knownCount = countsById.get(id);
    if (knownCount !== undefined) return knownCount;
    checkInvariants(world, bank);
    const steps = listNextWorlds(world, bank, rules);
    if (steps.length === 0) checkFinalInvariants(world, bank, rules);
    const count = steps.length === 0 ? 1n : steps.reduce((sum, step) => sum + countOrders(step), 0n);
    countsById.set(id, count);
    return count;
  };
  return { interleavings: countOrders(INITIAL_WORLD), worlds: countsById.size };
}

test.each(BANK_BEHAVIOURS)(
  'with a bank that %s, payment and bank are consistent after every order of steps',
  (bank) => {
    const { interleavings, worlds } = explore(bank);
    process.stdout.write(`a bank that ${bank}: ${interleavings} interleavings through ${worlds} states\n`);
    expect(worlds).toBeGreaterThan(10_000);
  },
);

type Conclude = Rules['conclude'];
const endedBy = (response: Parameters<typeof attemptEndFor>[0]): Conclusion => ({
  kind: 'end',
  end: attemptEndFor(response),
});
const isOpen = (state: AttemptState): boolean => CHARGEABLE_STATES.includes(state) || state === 'reversing';
const anyTransition = (): boolean => true;
/** The production conclusion, except for the pairs of state and response that `override` defines. */
const overrideConclusion =
  (override: (state: AttemptState, response: AcquirerResponse) => Conclusion | undefined): Conclude =>
  (state, response) =>
    override(state, response) ?? conclude(state, response);

/**
 * Each row breaks one rule, so that the exploration must find an order in which payment and bank contradict each other.
 */
test.each<[string, BankBehaviour, Partial<Rules>, string]>([
  [
    'the reversal is requested before the decision to reverse is committed',
    'approves',
    {
      decide: (state) => state,
      isTransitionAllowed: anyTransition,
      conclude: overrideConclusion((state, response) =>
        response.kind === 'reversed' && isOpen(state) ? endedBy(response) : undefined,
      ),
    },
    'success, but reversed at the bank',
  ],
  [
    'the decision is committed in any state of the row',
    'approves',
    { decide: () => 'reversing', isTransitionAllowed: anyTransition },
    'success, but reversed at the bank',
  ],
  [
    'an approval ends an attempt that is being reversed',
    'approves',
    {
      conclude: overrideConclusion((state, response) =>
        response.kind === 'approved' && isOpen(state) ? endedBy(response) : undefined,
      ),
      isTransitionAllowed: anyTransition,
    },
    'success, but reversed at the bank',
  ],
  [
    'an unknown outcome counts as a failure',
    'approves',
    {
      conclude: overrideConclusion((state, { kind }) =>
        kind === 'unknown' && isOpen(state) ? endedBy({ kind: 'notAttempted' }) : undefined,
      ),
    },
    'failed, but the bank holds the payer’s money',
  ],
  [
    'an unconfirmed reversal counts as confirmed',
    'approves',
    {
      conclude: overrideConclusion((state, { kind }) =>
        kind === 'unconfirmed' && isOpen(state) ? endedBy({ kind: 'neverCharged' }) : undefined,
      ),
    },
    'failed, but the bank holds the payer’s money',
  ],
  [
    'a committed reversal is queried instead of retried',
    'approves',
    {
      recoveryStep: (state, ageMs) => recoveryStep(state === 'reversing' ? 'unknown' : state, Math.min(ageMs, 10_000)),
    },
    'stays reversing',
  ],
  [
    'an approval after the end of the attempt is ignored',
    'charges a blocked key',
    {
      conclude: overrideConclusion((state, { kind }) =>
        kind === 'approved' && !isOpen(state) ? { kind: 'none' } : undefined,
      ),
    },
    'failed, but approved at the bank in the end',
  ],
  [
    'an approval after the end of the attempt is recorded, but not reversed',
    'charges a blocked key',
    {
      conclude: overrideConclusion((state, { kind }) =>
        kind === 'approved' && !isOpen(state) && state !== 'approved'
          ? { kind: 'incident', needsReversal: false }
          : undefined,
      ),
    },
    'failed, but approved at the bank in the end',
  ],
])('the exploration finds a contradiction if %s', (_, bank, brokenRules, message) => {
  expect(() => explore(bank, { ...PRODUCTION_RULES, ...brokenRules })).toThrow(message);
});
