import { SvcApiError } from '@svc/sdk';
import { backoffMs } from './backoff.js';
import { classifyFailure } from './failure.js';

const createApiError = (httpStatus: number, code?: string, retryable = false): SvcApiError =>
  new SvcApiError({ httpStatus, code, retryable, status: 'BadRequest', errors: [{ message: 'why' }] });

test.each<[string, unknown, string]>([
  ['no answer', createApiError(0, undefined, true), 'unreachable'],
  ['too many calls', createApiError(429, undefined, true), 'unreachable'],
  ['not ready', createApiError(503, 'service.not-ready', true), 'unreachable'],
  ['a wrong key', createApiError(401), 'unreachable'],
  ['a key of another site', createApiError(403), 'unreachable'],
  ['a customer is paying', createApiError(409, 'payment.in-progress'), 'in-progress'],
  ['paid', createApiError(409, 'payable.paid'), 'already-paid'],
  ['not found', createApiError(404, 'resource.not-found'), 'not-found'],
  ['not found, says a proxy', createApiError(404), 'later'],
  ['an equal call runs', createApiError(409, 'resource.conflict', true), 'later'],
  ['an internal error', createApiError(500), 'later'],
  ['an answer that cannot be read', createApiError(200), 'later'],
  ['something else', new Error('x'), 'later'],
  ['a malformed request', createApiError(400), 'refused'],
  ['more than is left', createApiError(422, 'refund.amount-exceeded'), 'refused'],
  ['the key of another refund', createApiError(409, 'request.idempotency-conflict'), 'refused'],
])('%s', (_, given, kind) => expect(classifyFailure(given)).toMatchObject({ kind }));

test('a refusal has the messages of the platform', () => {
  expect(classifyFailure(createApiError(422))).toEqual({ kind: 'refused', message: 'why' });
});

test.each([
  [1, 0.5, 500],
  [2, 0.5, 1_000],
  [2, 0, 750],
  [2, 1, 1_250],
  [9, 0.5, 10_000],
  [5_000, 0.5, 10_000],
])('the pause after %d failures, at %d: %d ms', (failures, random, pause) =>
  expect(backoffMs(failures, 10_000, () => random)).toBe(pause),
);
