import { findNeighbours, isDay, isMonth, monthOf } from './periods.js';

const TODAY = '2026-03-08';

test.each([
  ['2026-03', true],
  ['2000-01', true],
  ['2026-04', false],
  ['1999-12', false],
  ['2026-13', false],
  ['2026-3', false],
  ['2026-03-01', false],
  ['', false],
  [undefined, false],
  [['2026-03'], false],
])('%j is a month that has begun: %s', (text, expected) => {
  expect(isMonth(text, TODAY)).toBe(expected);
});

test.each([
  ['2026-03-08', true],
  ['2000-01-01', true],
  ['2026-03-09', false],
  ['1999-12-31', false],
  ['2026-02-29', false],
  ['2026-03', false],
  [undefined, false],
])('%j is a day that has begun: %s', (text, expected) => {
  expect(isDay(text, TODAY)).toBe(expected);
});

test.each([
  ['2026-03', '2026-02', undefined],
  ['2026-02', '2026-01', '2026-03'],
  ['2026-01', '2025-12', '2026-02'],
  ['2025-12', '2025-11', '2026-01'],
  ['2000-01', undefined, '2000-02'],
  ['2026-03-08', '2026-03-07', undefined],
  ['2026-03-07', '2026-03-06', '2026-03-08'],
  ['2026-03-01', '2026-02-28', '2026-03-02'],
  ['2000-01-01', undefined, '2000-01-02'],
])('the neighbours of %s are %s and %s', (period, before, after) => {
  expect(findNeighbours(period, TODAY)).toEqual({ before, after });
});

test('the month of a day', () => {
  expect(monthOf('2026-03-08')).toBe('2026-03');
});
