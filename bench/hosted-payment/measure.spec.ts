import { type Measurement, medianRatio, orderOfRound, type Round } from './measure.ts';

test('orderOfRound begins each round with another system, and does not always keep the same sequence', () => {
  const orders = [0, 1, 2, 3].map((round) => orderOfRound(['a', 'b', 'c'], round).join(''));
  expect(orders).toEqual(['abc', 'acb', 'cab', 'cba']);
});

test('medianRatio divides values of the same round, so a slow round of both systems does not change the ratio', () => {
  const newMeasurement = (rates: number[]): Measurement => ({
    system: '',
    acquirerLatencyMs: 0,
    rounds: rates.map((completedPerSecond) => ({ saturated: { completedPerSecond } }) as Round),
    counts: {} as Measurement['counts'],
  });
  const ratio = medianRatio(
    newMeasurement([20, 2, 30]),
    newMeasurement([10, 1, 10]),
    ({ saturated }) => saturated.completedPerSecond,
  );
  expect(ratio).toBe(2);
});
