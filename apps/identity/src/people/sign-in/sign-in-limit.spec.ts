import { PASSWORD_CLOSED_MS } from '@svc/contracts';
import { closedUntil } from './sign-in-limit.js';

const START = new Date('2026-03-01T10:00:00.000Z').getTime();
const MAX = 3;
/** Failures at these minutes after the start, the newest first. */
const failuresAt = (...minutes: number[]): Date[] =>
  minutes
    .toSorted((a, b) => b - a)
    .slice(0, MAX)
    .map((minute) => new Date(START + minute * 60_000));
const at = (minute: number): Date => new Date(START + minute * 60_000);

test('is open before the limit', () => {
  expect(closedUntil([], MAX, at(0))).toBeUndefined();
  expect(closedUntil(failuresAt(0, 1), MAX, at(1))).toBeUndefined();
});

test('the last failure closes for 30 minutes, to the millisecond', () => {
  const failures = failuresAt(0, 10, 29);
  const end = new Date(at(29).getTime() + PASSWORD_CLOSED_MS);
  expect(closedUntil(failures, MAX, at(29))).toEqual(end);
  expect(closedUntil(failures, MAX, new Date(end.getTime() - 1))).toEqual(end);
  expect(closedUntil(failures, MAX, end)).toBeUndefined();
});

test('failures within exactly 30 minutes close, failures further apart do not', () => {
  expect(closedUntil(failuresAt(0, 10, 30), MAX, at(30))).toEqual(at(60));
  expect(closedUntil([new Date(at(30).getTime() + 1), at(10), at(0)], MAX, at(31))).toBeUndefined();
});

test('after the time has passed, one further failure does not close again', () => {
  expect(closedUntil(failuresAt(0, 1, 2, 33), MAX, at(33))).toBeUndefined();
});
