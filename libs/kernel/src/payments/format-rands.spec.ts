import { describeCents, formatRands } from './format-rands.js';

test.each([
  [0, 'R 0.00'],
  [5, 'R 0.05'],
  [123_450, 'R 1 234.50'],
  [-99, '-R 0.99'],
  [100_000_000_000, 'R 1 000 000 000.00'],
])('%d cents are displayed as %s', (cents, text) => expect(formatRands(cents)).toBe(text));

test.each([
  [1, '1 cent (R 0.01)'],
  [0, '0 cents (R 0.00)'],
  [-1, '-1 cent (-R 0.01)'],
  [123_450, '123450 cents (R 1 234.50)'],
])('%d cents are described to a developer as %s', (cents, text) => expect(describeCents(cents)).toBe(text));
