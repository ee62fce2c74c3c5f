import { computePercentiles, median } from './percentiles.ts';

test('computePercentiles returns measured values, by the nearest-rank method', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(computePercentiles(values)).toEqual({ count: 100, p50: 50, p95: 95, p99: 99, max: 100 });
  expect(computePercentiles([7])).toEqual({ count: 1, p50: 7, p95: 7, p99: 7, max: 7 });
});

test('the median of an even number of values is the mean of the middle two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1])).toBe(2.5);
  expect(median([7])).toBe(7);
  expect(median([])).toBeNaN();
});
