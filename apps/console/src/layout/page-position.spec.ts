import { formatPosition, parsePosition } from './page-position.js';

test.each([
  ['1772359200000_a-1', { time: new Date(1_772_359_200_000), id: 'a-1' }],
  ['_a-1', { time: undefined, id: 'a-1' }],
])('the address %j is a position, and the position this address', (text, position) => {
  expect(parsePosition(text)).toEqual(position);
  expect(formatPosition(position)).toBe(text);
});

test.each([
  undefined,
  '',
  '1',
  '1_',
  '_',
  '123456789012345_a',
  '-1_a',
  '1.5_a',
  '1_a_b',
  ['1_a'],
  `1_${'a'.repeat(65)}`,
])('the value %j is no position', (text) => {
  expect(parsePosition(text)).toBeUndefined();
});
