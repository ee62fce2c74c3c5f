import { pbkdf2Sync } from 'node:crypto';
import { solveChallenge } from './solve-challenge.js';

const NOT_USED = { expiresAtMs: 1 };
const task = (numbers: number, solution: number) => ({
  ...NOT_USED,
  id: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  numbers,
  digest: pbkdf2Sync('0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f', String(solution), 1_000, 16, 'sha256').toString(
    'base64url',
  ),
});

test.each([
  [1, 0],
  [45, 0],
  [45, 19],
  [45, 20],
  [45, 44],
])('of %i numbers the browser finds %i', async (numbers, solution) => {
  const shares: number[] = [];
  expect(await solveChallenge(task(numbers, solution), (share) => shares.push(share))).toBe(solution);
  expect(shares).toEqual([0, 20 / 45, 40 / 45].slice(0, Math.floor(solution / 20) + 1));
});

test('a challenge without a solution throws after all numbers', async () => {
  await expect(solveChallenge(task(21, 21), () => undefined)).rejects.toThrow('no solution');
});
