/** Used to log only the 1st, 2nd, 4th, 8th … failure of a series, so that a long outage does not flood the log. */
export function isPowerOfTwo(n: number): boolean {
  return (n & (n - 1)) === 0;
}
