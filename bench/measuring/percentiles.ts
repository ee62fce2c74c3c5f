/** Percentiles of all values of a run. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export function computePercentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort();
  // Nearest rank: the smallest measured value that is greater than or equal to this share of all values.
  const percentile = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
  return {
    count: sorted.length,
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
    max: percentile(1),
  };
}

/** The middle value. With an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}
