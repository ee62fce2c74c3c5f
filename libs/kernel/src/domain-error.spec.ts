import { ERROR_CATALOGUE } from '@svc/contracts';
import { DomainError, invalidField } from './domain-error.js';

test('an error without details has the message of the catalogue and no fields', () => {
  const error = new DomainError('payable.paid');
  expect(error).toMatchObject({
    name: 'DomainError',
    message: ERROR_CATALOGUE['payable.paid'].message,
    fields: [],
    retryAfterSeconds: undefined,
    cause: undefined,
  });
  expect(error.entry).toBe(ERROR_CATALOGUE['payable.paid']);
});

test('the details of an error replace its message and set its fields, Retry-After and cause', () => {
  const cause = new Error('deadlock detected');
  const fields = [{ field: 'amount', message: 'amount is too high' }];
  const error = new DomainError('service.not-ready', {
    message: 'Try again later.',
    fields,
    retryAfterSeconds: 7,
    cause,
  });
  expect(error).toMatchObject({ message: 'Try again later.', fields, retryAfterSeconds: 7, cause });
});

test('invalidField() returns an error with status 400 and the field', () => {
  const error = invalidField('code', 'code must be base64');
  expect(error.entry.httpStatus).toBe(400);
  expect(error.fields).toEqual([{ field: 'code', message: 'code must be base64' }]);
});
