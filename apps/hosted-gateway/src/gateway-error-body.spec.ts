import { ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { gatewayErrorBody } from './gateway-error-body.js';

const bodyOf = (error: DomainError): unknown => gatewayErrorBody(error, {} as never).body;

test.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s has the status of row H1', (code) => {
  const { httpStatus, message } = ERROR_CATALOGUE[code];
  const four = { 401: 'Unauthorized', 404: 'NotFound' }[httpStatus as number] ?? 'BadRequest';
  expect(bodyOf(new DomainError(code))).toEqual({
    status: httpStatus >= 500 ? 'InternalServer' : four,
    errors: [{ message }],
  });
});

test('every offending field has a message of its own, and nothing else of it is shown (C5)', () => {
  const fields = [
    { field: 'amount', message: 'amount is missing' },
    { field: 'origin', message: 'origin is missing' },
  ];
  expect(bodyOf(new DomainError('request.invalid', { fields, cause: new Error('inside') }))).toEqual({
    status: 'BadRequest',
    errors: [{ message: 'amount is missing' }, { message: 'origin is missing' }],
  });
});
