import { SvcApiError } from '@svc/sdk';
import { backoffMs } from './backoff.js';
import { classifyFailure } from './failure.js';

const createApiError = (httpStatus: number, code?: string, retryable = false): SvcApiError =>
  new SvcApiError({ httpStatus, code, retryable, status: 'BadRequest', errors: [{ message: 'why' }] });

test.each<[string, string, unknown]>([
  ['a missing response', 'unreachable', createApiError(0, undefined, true)],
  ['429 for too many calls', 'unreachable', createApiError(429, undefined, true)],
  ['503 while the platform is not ready', 'unreachable', createApiError(503, 'service.not-ready', true)],
  ['401 for a wrong key', 'unreachable', createApiError(401)],
  ['403 for a key of another site', 'unreachable', createApiError(403)],
  ['409 while a customer is paying', 'in-progress', createApiError(409, 'payment.in-progress')],
  ['409 for a paid invoice', 'already-paid', createApiError(409, 'payable.paid')],
  ['404 with the code of the platform', 'not-found', createApiError(404, 'resource.not-found')],
  ['404 of a proxy, without a code', 'later', createApiError(404)],
  ['409 while an equal call is in progress', 'later', createApiError(409, 'resource.conflict', true)],
  ['500', 'later', createApiError(500)],
  ['200 with an unreadable body', 'later', createApiError(200)],
  ['an error that is no SvcApiError', 'later', new Error('x')],
  ['400 for a malformed request', 'refused', createApiError(400)],
  ['422 for a refund above the remaining amount', 'refused', createApiError(422, 'refund.amount-exceeded')],
  ['409 for the idempotency key of another refund', 'refused', createApiError(409, 'request.idempotency-conflict')],
])('%s is classified as %s', (_, kind, error) => expect(classifyFailure(error)).toMatchObject({ kind }));

test('a failure of kind `refused` has the error messages of the platform', () => {
  expect(classifyFailure(createApiError(422))).toEqual({ kind: 'refused', message: 'why' });
  const errors = [{ message: 'amount is too large' }, { message: 'reason is too long' }];
  const error = new SvcApiError({ httpStatus: 422, code: undefined, retryable: false, status: 'BadRequest', errors });
  expect(classifyFailure(error)).toEqual({ kind: 'refused', message: 'amount is too large reason is too long' });
});

test('the message of a refused key tells the administrator to correct the key', () => {
  expect(classifyFailure(createApiError(401)).message).toMatch(/^The site's key is refused\. ./);
});

test.each([
  [1, 0.5, 500],
  [2, 0.5, 1_000],
  [2, 0, 750],
  [2, 1, 1_250],
  [9, 0.5, 10_000],
  [5_000, 0.5, 10_000],
])('the pause after %d failures, with the random number %d, is %d ms', (failures, random, pause) =>
  expect(backoffMs(failures, 10_000, () => random)).toBe(pause),
);
