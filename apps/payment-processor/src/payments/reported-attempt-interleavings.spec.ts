import {
  checkFinalReportedInvariants,
  checkReportedInvariants,
  INITIAL_REPORTED_WORLD,
  type Issuer,
  ISSUERS,
  listNextReportedWorlds,
  REPORTED_RULES,
  type ReportedRules,
  type ReportedWorld,
} from '../../test/attempts/reported-attempt-model.js';
import { conclude } from './attempt.js';

/** Explores every order of steps, but each world only once. Throws at the first world that violates an invariant. */
function explore(issuer: Issuer, rules: ReportedRules = REPORTED_RULES): ReportedWorld[] {
  const knownWorlds = new Map<string, ReportedWorld>();
  const waiting = [INITIAL_REPORTED_WORLD];
  for (let world = waiting.pop(); world; world = waiting.pop()) {
    const key = JSON.stringify(world);
    if (knownWorlds.has(key)) continue;
    knownWorlds.set(key, world);
    checkReportedInvariants(world);
    const next = listNextReportedWorlds(world, issuer, rules).filter((other) => JSON.stringify(other) !== key);
    if (next.length === 0) checkFinalReportedInvariants(world);
    waiting.push(...next);
  }
  return [...knownWorlds.values()];
}

test.each(ISSUERS)(
  'with an issuer that %s, payment and acquirer agree after every order of responses, reports and jobs',
  (issuer) => {
    const worlds = explore(issuer);
    expect(worlds.length).toBeGreaterThan(100);
    // Every state that such an attempt can have is reached.
    const ended = issuer === 'approves' ? ['approved', 'notAttempted', 'reversed'] : ['declined', 'notAttempted'];
    expect([...new Set(worlds.map(({ row }) => row))].toSorted()).toEqual(['started', 'unknown', ...ended].toSorted());
  },
);

/** Each row breaks one rule, so that the exploration must find an order in which payment and acquirer disagree. */
test.each<[string, Partial<ReportedRules>, string]>([
  ['an abandoned charge is not released', { requestsRelease: () => false }, 'failed, but authorised in the end'],
  [
    'a charge that arrives after its release was not found is not released again',
    { requestsReleaseAgain: false },
    'failed, but authorised in the end',
  ],
  [
    'a report that no charge was found ends the release although an approval was recorded',
    { knowsApprovals: false },
    'failed, but authorised in the end',
  ],
  [
    'a late approval is ignored',
    {
      conclude: (state, response) =>
        response.kind === 'approved' && state === 'notAttempted' ? { kind: 'none' } : conclude(state, response),
    },
    'failed, but authorised in the end',
  ],
  [
    'the report of a decline does not end the release',
    { declineEndsRelease: false },
    'the release is requested for ever',
  ],
  ['a charge is reversed instead of abandoned', { recoveryStep: () => 'reverse' }, 'is reversed'],
  ['an attempt is queried for ever', { recoveryStep: () => 'query' }, 'the payment stays processing'],
  ['an approved charge is not captured', { captures: () => false }, 'success, but authorised in the end'],
])('the exploration finds the contradiction when %s', (_, brokenRule, contradiction) => {
  expect(() => ISSUERS.map((issuer) => explore(issuer, { ...REPORTED_RULES, ...brokenRule }))).toThrow(contradiction);
});
