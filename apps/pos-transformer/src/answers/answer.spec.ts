import { mergeAnswers, ok, stop, warn } from './answer.js';

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
