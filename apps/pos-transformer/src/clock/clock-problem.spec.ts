import { describeClockProblem } from './clock-problem.js';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

it.each([0, MINUTE, -MINUTE])('a difference of %d ms is no problem', (errorMs) => {
  expect(describeClockProblem(errorMs)).toBeNull();
});

it.each([
  [MINUTE + 1, '1 minute ahead'],
  [-MINUTE - 1, '1 minute behind'],
  [2 * HOUR, '2 hours ahead'],
  [-(HOUR + 5 * MINUTE), '1 hour 5 minutes behind'],
  [2 * HOUR - 1, '2 hours ahead'],
  [60 * DAY + 3 * HOUR + 7 * MINUTE, '60 days 3 hours ahead'],
  [-(DAY + 30 * MINUTE), '1 day 30 minutes behind'],
])('a difference of %d ms is described as "%s"', (errorMs, text) => {
  expect(describeClockProblem(errorMs)).toBe(`The clock of the store’s computer is ${text}. Set it to the right time.`);
});
