import { DomainError } from '@svc/kernel';
import { QueryFailedError } from 'typeorm';
import { describeError } from './logging.js';

const SECRET = '4242424242424242';

function newQueryFailedError(code: string, message: string): QueryFailedError {
  const driverError = Object.assign(new Error(message), {
    code,
    detail: `Key (number)=(${SECRET}) exists`,
    where: SECRET,
  });
  return new QueryFailedError(`INSERT INTO cards VALUES ('${SECRET}')`, [SECRET], driverError);
}

test('the log entry of a failed query contains no statement, no parameters and no detail', () => {
  const described = describeError(
    newQueryFailedError('23505', 'duplicate key value violates unique constraint "cards_pkey"'),
  );
  expect(described).toMatchObject({
    type: 'QueryFailedError',
    message: 'duplicate key value violates unique constraint "cards_pkey"',
    sqlState: '23505',
  });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('a PostgreSQL message that contains the rejected value is replaced, also in the stack and in the causes of an error', () => {
  const queryError = newQueryFailedError('22P02', `invalid input syntax for type uuid: "${SECRET}"`);
  const described = describeError(new DomainError('internal', { cause: new Error('outer', { cause: queryError }) }));
  expect(described).toMatchObject({ cause: { cause: { message: 'PostgreSQL refused a value (SQLSTATE 22P02)' } } });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('describeError returns only the type, message, code and stack of an error that is not from PostgreSQL', () => {
  const error = Object.assign(new Error('socket'), { code: 'ECONNREFUSED', request: { body: SECRET }, config: SECRET });
  expect(describeError(error)).toEqual({
    type: 'Error',
    message: 'socket',
    code: 'ECONNREFUSED',
    stack: expect.stringContaining('logging.spec') as string,
  });
  expect(describeError(SECRET)).toEqual({ type: 'string' });
});

test('describeError returns at most three causes, even if an error is its own cause', () => {
  const error = new Error('a');
  error.cause = error;
  expect(JSON.stringify(describeError(error)).match(/"type"/g)).toHaveLength(4);
});

test('a validation error is logged with the names of its fields, without their values', () => {
  const validationError = new DomainError('request.invalid', {
    fields: [{ field: 'email', message: `${SECRET} is not an address` }],
  });
  const described = describeError(validationError);
  expect(described).toMatchObject({ code: 'request.invalid', fields: ['email'] });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});
