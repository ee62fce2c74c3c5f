import { SvcApiError } from './svc-api-error.js';

const FAILURE = { httpStatus: 400, status: 'BadRequest', errors: [], retryable: false } as const;

test.each([
  [FAILURE, '400: BadRequest'],
  [{ ...FAILURE, errors: [{ message: 'amount' }] }, '400: amount'],
  [{ ...FAILURE, errors: [{ message: 'amount' }, { message: 'origin' }] }, '400: amount; origin'],
  [{ ...FAILURE, type: 'https://a.example/errors/b' }, '400: BadRequest (see https://a.example/errors/b)'],
  [{ ...FAILURE, httpStatus: 0, errors: [{ message: 'fetch failed' }] }, 'No response: fetch failed'],
])('the error for the failure %j has the message %p', (failure, message) => {
  expect(new SvcApiError(failure)).toMatchObject({ ...failure, name: 'SvcApiError', message });
});

test('an error has the property cause only if the failure has a cause', () => {
  const cause = new Error('timeout');
  expect(new SvcApiError({ ...FAILURE, cause }).cause).toBe(cause);
  expect(new SvcApiError(FAILURE)).not.toHaveProperty('cause');
});
