/** A sentence for the cashier about the clock of the store's computer (T14). */

/** The till page names a difference of more than a minute. A smaller difference matters to no person. */
const MAX_ERROR_MS = 60_000;

/** Units from the largest to the smallest, in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** @param errorMs the time of the computer's clock minus the time of the platform */
export function isClockWrong(errorMs: number): boolean {
  return Math.abs(errorMs) > MAX_ERROR_MS;
}

/** Returns null if the clock is right. */
export function describeClockProblem(errorMs: number): string | null {
  if (!isClockWrong(errorMs)) return null;
  const side = errorMs > 0 ? 'ahead' : 'behind';
  return `The clock of the store’s computer is ${formatDuration(Math.abs(errorMs))} ${side}. Set it to the right time.`;
}

/** The two largest units that are not 0, as in `2 hours 5 minutes`. */
function formatDuration(milliseconds: number): string {
  let rest = Math.round(milliseconds / 60_000) * 60;
  const parts = UNITS.map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return count === 0 ? undefined : `${count} ${unit}${count === 1 ? '' : 's'}`;
  });
  return parts
    .filter((part) => part !== undefined)
    .slice(0, 2)
    .join(' ');
}
