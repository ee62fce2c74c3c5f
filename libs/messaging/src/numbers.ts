/** For failures that are logged the 1st, 2nd, 4th, 8th … time: an hour's outage is a dozen lines, not a thousand. */
export function isPowerOfTwo(n: number): boolean {
  return (n & (n - 1)) === 0;
}
