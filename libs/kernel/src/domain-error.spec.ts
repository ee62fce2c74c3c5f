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

test('details replace the message and keep the cause', () => {
  const cause = new Error('deadlock detected');
  const fields = [{ field: 'amount', message: 'amount is too high' }];
  const error = new DomainError('service.not-ready', { message: 'Come back.', fields, retryAfterSeconds: 7, cause });
  expect(error).toMatchObject({ message: 'Come back.', fields, retryAfterSeconds: 7, cause });
});

test('an error for an invalid field has status 400 and names the field', () => {
  const error = invalidField('code', 'code must be base64');
  expect(error.entry.httpStatus).toBe(400);
  expect(error.fields).toEqual([{ field: 'code', message: 'code must be base64' }]);
});
