/** How much work a challenge needs. Pure functions. */
import type { AttackLevel } from '@svc/contracts';

/**
 * Work of a challenge by the level of the site, and the work that each decline from the payer's address adds, in
 * quarters of the work at level 1.
 */
const QUARTERS_BY_LEVEL: Readonly<Record<AttackLevel, number>> = { 0: 0, 1: 4, 2: 6, 3: 8 };
const QUARTERS_BY_DECLINE = 1;
/**
 * Further declines add nothing, because many honest payers may have the address of one mobile network. With 4 times the
 * work of level 1, a slow phone needs at most about 8 s (docs/card-testing.md).
 */
const MAX_COUNTED_DECLINES = 8;

/**
 * @param numbersAtLevel1 the numbers of a challenge at level 1, for an address without declines
 * @param recentDeclines declined payments from the payer's address
 * @returns the number of numbers, of which one is the solution. 0 if the page needs no challenge
 */
export function computeNumbers(numbersAtLevel1: number, level: AttackLevel, recentDeclines: number): number {
  if (level === 0) return 0;
  const quarters = QUARTERS_BY_LEVEL[level] + QUARTERS_BY_DECLINE * Math.min(MAX_COUNTED_DECLINES, recentDeclines);
  return Math.ceil((numbersAtLevel1 * quarters) / 4);
}

/**
 * True if the solution of a challenge with these numbers is enough for a payment that would now get `required`. Half of
 * the work is enough. Otherwise the device of a payer behind a busy address would compute again after each decline there.
 */
export function isEnoughWork(numbers: number, required: number): boolean {
  return 2 * numbers >= required;
}
