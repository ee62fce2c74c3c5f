import { formatRands, mergeAnswers, ok, stop, warn } from './answer.js';

test('T2: the answer to an executed call has the result OK and an optional message', () => {
  expect(ok()).toEqual({ Result: 'OK', Message: '' });
  expect(ok('Paid.')).toEqual({ Result: 'OK', Message: 'Paid.' });
});

test('T2: mergeAnswers returns the most serious result, and each message once', () => {
  expect(mergeAnswers(ok(), undefined)).toEqual({ Result: 'OK', Message: '' });
  expect(mergeAnswers(ok(), warn('Check.'))).toEqual({ Result: 'WARN', Message: 'Check.' });
  expect(mergeAnswers(ok('Paid.'), warn('Check.'))).toEqual({ Result: 'WARN', Message: 'Paid. Check.' });
  expect(mergeAnswers(warn('Check.'), stop('No.'), warn('Check.'))).toEqual({ Result: 'STOP', Message: 'Check. No.' });
  expect(mergeAnswers()).toEqual({ Result: 'OK', Message: '' });
});

test.each([
  [0, 'R 0.00'],
  [5, 'R 0.05'],
  [123_450, 'R 1 234.50'],
  [-99, '-R 0.99'],
  [100_000_000_000, 'R 1 000 000 000.00'],
])('%d cents are displayed as %s', (cents, text) => expect(formatRands(cents)).toBe(text));
