import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  CHALLENGE_LIFETIME_MS,
  createChallengeText,
  isSolution,
  MAX_CHALLENGE_LENGTH,
  MAX_SOLUTION,
  verifyChallengeText,
} from './challenge.js';
import { parseChallengeText } from './challenge-work.js';

const KEY = randomBytes(32);
const NOW = new Date('2026-03-01T10:00:00.000Z');
const payableId = randomUUID();

const create = (numbers = 20, key = KEY): Promise<string> => createChallengeText({ payableId, numbers, now: NOW }, key);

/** All solutions of a challenge. */
async function findSolution(text: string): Promise<number[]> {
  const challenge = verifyChallengeText(text, [KEY])!;
  const areSolutions = await Promise.all(
    Array.from({ length: challenge.numbers }, (_, number) => isSolution(challenge, number)),
  );
  return areSolutions.flatMap((is, number) => (is ? [number] : []));
}

test('a challenge names its payable, ends after five minutes, and has exactly one solution', async () => {
  const text = await create();
  expect(verifyChallengeText(text, [KEY])).toMatchObject({
    payableId,
    numbers: 20,
    expiresAtMs: NOW.getTime() + CHALLENGE_LIFETIME_MS,
  });
  expect(CHALLENGE_LIFETIME_MS).toBe(300_000);
  expect(await findSolution(text)).toHaveLength(1);
  expect(parseChallengeText(text)).toEqual(verifyChallengeText(text, [KEY]));
});

test('each number can be the solution, and no two challenges are equal', async () => {
  const texts = await Promise.all(Array.from({ length: 60 }, () => create(3)));
  expect(new Set(texts.map((text) => text.split('.')[0])).size).toBe(60);
  const solutions = await Promise.all(texts.map(findSolution));
  expect(new Set(solutions.flat())).toEqual(new Set([0, 1, 2]));
});

test('the longest challenge is within the limit of a pay request', async () => {
  const text = await createChallengeText(
    { payableId, numbers: MAX_SOLUTION, now: new Date('9999-12-31T00:00:00.000Z') },
    KEY,
  );
  expect(text.length).toBeLessThanOrEqual(MAX_CHALLENGE_LENGTH);
});

test('a challenge is rejected if any character has changed, or with another key', async () => {
  const text = await create();
  expect(verifyChallengeText(text, [randomBytes(32), randomBytes(32)])).toBeUndefined();
  expect(verifyChallengeText(text, [])).toBeUndefined();
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom('.', 'A', '0', '-', ''), (position, replacement) => {
      const changed = text.slice(0, position) + replacement + text.slice(position + 1);
      // The last character of a signature contains bits that base64url ignores.
      fc.pre(changed !== text && position < text.length - 1);
      return verifyChallengeText(changed, [KEY]) === undefined;
    }),
  );
});

test('during a rotation of the keys, challenges of both keys are accepted', async () => {
  const keys = [randomBytes(32), KEY];
  expect(verifyChallengeText(await create(), keys)).toBeDefined();
  expect(verifyChallengeText(await create(20, keys[0]), keys)).toBeDefined();
});

test('parts of another challenge are rejected', async () => {
  const [one, other] = [(await create()).split('.'), (await create()).split('.')];
  // Both have the same payable, numbers and expiry.
  for (const part of [0, 4, 5])
    expect(verifyChallengeText(one.with(part, other[part]!).join('.'), [KEY])).toBeUndefined();
});

test.each(['', '.', '......', 'a.b.c', 'a.b.1.2.c.d', `${'1.'.repeat(100)}`])(
  'the malformed text %j is rejected',
  (text) => expect(verifyChallengeText(text, [KEY])).toBeUndefined(),
);

test.each(['id.payable.0.1.d.s', 'id.payable.01.1.d.s', 'id.payable.1e3.1.d.s', 'id.payable.1.-1.d.s', 'id..1.1.d.s'])(
  'the browser cannot parse %j',
  (text) => expect(parseChallengeText(text)).toBeUndefined(),
);

test('only an integer within the numbers of the challenge can be its solution', async () => {
  const challenge = verifyChallengeText(await create(1), [KEY])!;
  expect(await isSolution(challenge, 0)).toBe(true);
  for (const wrong of [1, -1, 0.5, NaN, Infinity, -0.5]) expect(await isSolution(challenge, wrong)).toBe(false);
});

test('a solution of one challenge is none of another', async () => {
  const [one, other] = [verifyChallengeText(await create(1), [KEY])!, verifyChallengeText(await create(1), [KEY])!];
  expect(await isSolution({ ...one, id: other.id }, 0)).toBe(false);
});
