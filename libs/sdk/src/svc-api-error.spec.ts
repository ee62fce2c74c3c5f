import { createApiError } from './http-exchange.js';
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

describe('the error of a response', () => {
  const response = { url: 'https://api.example/api/v3.1/sessions', ok: false, text: '{}', headers: new Headers() };

  it('with status 404 of the other API has its detail, which names the right address', () => {
    const detail = 'The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway.';
    const error = createApiError({ ...response, httpStatus: 404, body: { title: 'Not Found', detail, errors: [] } });
    expect(error.errors).toEqual([{ message: `https://api.example: ${detail}` }]);
  });

  it('without a body has the code of the header x-error-code, also in its message', () => {
    const headers = new Headers({ 'x-error-code': 'credentials.merchant-key-needed' });
    const error = createApiError({ ...response, httpStatus: 401, headers, body: undefined });
    expect([error.code, error.message]).toEqual([
      'credentials.merchant-key-needed',
      '401: credentials.merchant-key-needed',
    ]);
  });
});
