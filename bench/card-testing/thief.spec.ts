import { newCard } from './card-numbers.ts';
import type { AttemptOutcome } from './checkouts/checkout.ts';
import { type PlannedAttempt, Thief } from './thief.ts';

/** Attempts from these origins, all with the same outcome. */
const plan = (origins: readonly string[], outcome: AttemptOutcome): PlannedAttempt[] =>
  origins.map((origin) => ({
    card: newCard('4242424242424242'),
    origin,
    checkOut: () =>
      Promise.resolve({
        pressesAgain: 0,
        waits: 0,
        attempt: () => Promise.resolve(outcome),
        confirm: () => Promise.resolve(outcome),
      }),
  }));

test('the tally has the outcomes, and the declines of the origin with the most of them', async () => {
  const thief = new Thief();
  await thief.run(plan(['a', 'a', 'b'], 'declined'), () => undefined);
  await thief.run(plan(['a', 'b', 'b', 'b'], 'approved'), () => undefined);
  await thief.run(plan(['b'], 'verification'), () => undefined);
  expect([thief.attempts, thief.authorisations, thief.maxDeclinesOfOrigin]).toEqual([8, 7, 2]);
  expect(thief.outcomes).toEqual({ approved: 4, declined: 3, refused: 0, challenged: 0, verification: 1 });
});

test('the requests to verify the payer are counted by origin and by card', async () => {
  const thief = new Thief();
  await thief.run(plan(['a', 'a', 'b'], 'verification'), () => undefined);
  await thief.run(plan(['a'], 'refused'), () => undefined);
  const [attempt] = plan(['c'], 'verification');
  await thief.run([{ ...attempt!, card: newCard('4111111111111111') }], () => undefined);
  expect(thief.maxVerifications).toEqual({ ofOrigin: 2, ofCard: 3 });
});

test('the attacker makes every planned attempt, also from an origin without answers', async () => {
  const thief = new Thief();
  let planned = 0;
  const refused = Array.from({ length: 100 }, () => 'a');
  await thief.run(plan(refused, 'refused'), () => void planned++);
  expect([planned, thief.attempts, thief.outcomes.refused]).toEqual([100, 100, 100]);
});
