/**
 * Attackers test stolen cards while regular payers pay: the benchmark `card-testing` with few cards. Its challenges need
 * little work.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AttackResult, readAuthorisations } from '../bench/card-testing/arena.ts';
import {
  CVV_ATTACK,
  FORGED_ATTACK,
  LIST_ATTACK,
  PARTNER_ATTACK,
  REGULAR_DAY,
  runAttacks,
  SLOW_ATTACK,
} from '../bench/card-testing/attacks.ts';
import { moveTime } from '../bench/card-testing/moved-time.ts';
import { Platform } from './platform/platform.js';

const SCALE = 0.005;
/** Limits of payment-processor. */
const CARD_DECLINES = 4;
const RANGE_DECLINES = 10;
const SITE_DECLINES = 20;
/** Attempts that are already at the bank when a limit is met. The attacker makes 24 at the same time. */
const CONCURRENT = 24;

let platform: Platform;
let results: readonly AttackResult[];
beforeAll(async () => {
  platform = await Platform.start('card-testing', { SVC_VELOCITY_LIMITS_TEST: 'on', SVC_CHALLENGE_NUMBERS: '10' });
  const charges = join(platform.dataDir, 'acquirer', 'charges.jsonl');
  results = await runAttacks({
    platform: {
      demo: platform.demo,
      listAuthorisations: (merchantId) => readAuthorisations(readFileSync(charges, 'utf8'), merchantId),
      letTimePass: (seconds) => moveTime((statement) => platform.sql(statement), seconds),
    },
    scale: SCALE,
    salt: 1,
    log: (line) => process.stderr.write(`${line}\n`),
  });
});
afterAll(() => platform?.stop());

const find = (name: string, solvesChallenges: boolean): AttackResult =>
  results.find((result) => result.name === name && result.solvesChallenges === solvesChallenges)!;

it('the records of the bank agree with what attackers and payers saw', () => {
  expect(results.flatMap(({ problems }) => problems)).toEqual([]);
});

it('every regular payer pays beside every attack', () => {
  const unpaid = results.filter(({ regular }) => regular.paid < regular.payers);
  expect(unpaid.map(({ name, regular }) => [name, regular])).toEqual([]);
});

it('a day of regular trade, on pages and in an app: no payer is refused, and no page has a challenge', () => {
  expect(find(REGULAR_DAY, false)).toMatchObject({ planned: 0, regular: { refusedPayers: 0, solved: 0 } });
});

it.each([false, true])('a list at one site gets no answers once the site is under attack (solved: %s)', (solves) => {
  const { authorisations, outcomes, attempts } = find(LIST_ATTACK, solves);
  expect(authorisations).toBeLessThanOrEqual(SITE_DECLINES + CONCURRENT);
  expect(outcomes.challenged + outcomes.refused + outcomes.verification).toBe(attempts - authorisations);
});

it.each([false, true])('four of the CVVs of one card reach the bank, at many merchants (solved: %s)', (solves) => {
  expect(find(CVV_ATTACK, solves).authorisations).toBe(CARD_DECLINES);
});

it('twenty declined cards in two hours are no attack yet', () => {
  for (const solves of [false, true]) {
    const { planned, authorisations, regular } = find(SLOW_ATTACK, solves);
    expect([authorisations, regular.solved]).toEqual([planned, 0]);
  }
});

it('a forged X-Forwarded-For does not hide that all attempts come from one address', () => {
  const { authorisations, outcomes } = find(FORGED_ATTACK, true);
  expect(authorisations).toBeLessThanOrEqual(SITE_DECLINES + CONCURRENT);
  // Only the limit of an address refuses these cards, because they have different numbers and ranges.
  expect(outcomes.refused).toBeGreaterThan(0);
});

it('ten declined numbers of one range close the range at a partner', () => {
  const { authorisations, outcomes } = find(PARTNER_ATTACK, false);
  expect(authorisations).toBeLessThanOrEqual(RANGE_DECLINES + CONCURRENT);
  expect(outcomes.refused).toBeGreaterThan(0);
});
