import { SvcApiError } from '@svc/sdk';
import { backoffMs } from './backoff.js';
import { classifyFailure } from './failure.js';

const error = (httpStatus: number, code?: string, retryable = false): SvcApiError =>
  new SvcApiError({ httpStatus, code, retryable, status: 'BadRequest', errors: [{ message: 'why' }] });

test.each<[string, unknown, string]>([
  ['no answer', error(0, undefined, true), 'unreachable'],
  ['too many calls', error(429, undefined, true), 'unreachable'],
  ['not ready', error(503, 'service.not-ready', true), 'unreachable'],
  ['a wrong key', error(401), 'unreachable'],
  ['a key of another site', error(403), 'unreachable'],
  ['a customer is paying', error(409, 'payment.in-progress'), 'in-progress'],
  ['paid', error(409, 'payable.paid'), 'already-paid'],
  ['not found', error(404, 'resource.not-found'), 'not-found'],
  ['not found, says a proxy', error(404), 'later'],
  ['an equal call runs', error(409, 'resource.conflict', true), 'later'],
  ['an internal error', error(500), 'later'],
  ['an answer that cannot be read', error(200), 'later'],
  ['something else', new Error('x'), 'later'],
  ['a malformed request', error(400), 'refused'],
  ['more than is left', error(422, 'refund.amount-exceeded'), 'refused'],
  ['the key of another refund', error(409, 'request.idempotency-conflict'), 'refused'],
])('%s', (_, given, kind) => expect(classifyFailure(given)).toMatchObject({ kind }));

test('a refusal has the messages of the platform', () => {
  expect(classifyFailure(error(422))).toEqual({ kind: 'refused', message: 'why' });
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
