import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttackLevel } from '@svc/contracts';
import fc from 'fast-check';
import { HostedGatewayConfig } from '../config.js';
import { computeNumbers, isEnoughWork } from './challenge-difficulty.js';

const LEVELS = [1, 2, 3] as const satisfies readonly AttackLevel[];
const DECLINES = [0, 1, 2, 4, 8];
/** Measured by e2e/challenge with a processor that is six times slower, and rounded up. */
const SLOW_PHONE_MS_PER_NUMBER = 1;
const MAX_SLOW_PHONE_SECONDS = 8;
const DEFAULT_NUMBERS = new HostedGatewayConfig().SVC_CHALLENGE_NUMBERS;

/** Seconds to try all numbers. On average a browser tries half of them. */
const slowPhoneSeconds = (level: AttackLevel, declines: number): number =>
  (computeNumbers(DEFAULT_NUMBERS, level, declines) * SLOW_PHONE_MS_PER_NUMBER) / 1_000;

test('a site without an attack has no challenge, whatever the address of the payer did', () => {
  fc.assert(fc.property(fc.nat(), (declines) => expect(computeNumbers(2_000, 0, declines)).toBe(0)));
});

test('a slow phone needs at most 8 seconds for the hardest challenge, and about a second for the easiest', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LEVELS), fc.nat(), (level, declines) =>
      expect(slowPhoneSeconds(level, declines)).toBeLessThanOrEqual(MAX_SLOW_PHONE_SECONDS),
    ),
  );
  expect([slowPhoneSeconds(1, 0) / 2, slowPhoneSeconds(3, 8)]).toEqual([1, MAX_SLOW_PHONE_SECONDS]);
});

test('each of the first eight declines of the address means more work, and so does each higher level', () => {
  fc.assert(
    fc.property(fc.constantFrom(...LEVELS), fc.nat(7), fc.nat(), (level, declines, more) => {
      const numbers = computeNumbers(10, level, declines);
      expect(computeNumbers(10, level, declines + 1)).toBeGreaterThan(numbers);
      expect(computeNumbers(10, level, declines + more)).toBeGreaterThanOrEqual(numbers);
      expect(Number.isSafeInteger(numbers)).toBe(true);
    }),
  );
  expect(LEVELS.map((level) => computeNumbers(10, level, 9) - computeNumbers(10, level, 8))).toEqual([0, 0, 0]);
  for (const declines of DECLINES) {
    const [first, second, third] = LEVELS.map((level) => computeNumbers(10, level, declines));
    expect([first! < second!, second! < third!]).toEqual([true, true]);
  }
});

test('docs/card-testing.md has the seconds of a slow phone', () => {
  const rows = LEVELS.map((level) => {
    const cells = DECLINES.map((declines) => slowPhoneSeconds(level, declines));
    return [String(level), ...cells.map((worst) => `${(worst / 2).toFixed(1)} (${worst.toFixed(1)})`)];
  });
  const document = readFileSync(join(process.cwd(), 'docs/card-testing.md'), 'utf8');
  const table = document.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    return /^[123]$/.test(cells[1] ?? '') ? [cells.slice(1, -1)] : [];
  });
  expect(table).toEqual(rows);
});

test('half of the work is enough, so that a device computes at most twice while declines are counted', () => {
  expect([49, 50, 51, 100, 200].map((numbers) => isEnoughWork(numbers, 100))).toEqual([false, true, true, true, true]);
  expect(isEnoughWork(1, 0)).toBe(true);
  // The hardest challenge is at most four times as hard as the easiest one, so a second challenge is always enough.
  const hardest = computeNumbers(DEFAULT_NUMBERS, 3, Infinity);
  expect(hardest).toBe(4 * computeNumbers(DEFAULT_NUMBERS, 1, 0));
});
