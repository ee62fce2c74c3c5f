const INITIAL_BACKOFF_MS = 500;

/**
 * The pause before the next attempt: exponential backoff up to `maxMs`, with ±25 % jitter so that stores do not retry
 * at the same time.
 *
 * @param failures number of consecutive failures, at least 1
 */
export function backoffMs(failures: number, maxMs: number, random: () => number = Math.random): number {
  const pause = Math.min(maxMs, INITIAL_BACKOFF_MS * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (0.75 + random() / 2));
}
