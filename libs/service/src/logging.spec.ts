import { DomainError } from '@svc/kernel';
import { QueryFailedError } from 'typeorm';
import { describeError } from './logging.js';

const SECRET = '4242424242424242';

function queryFailed(code: string, message: string): QueryFailedError {
  const driverError = Object.assign(new Error(message), {
    code,
    detail: `Key (number)=(${SECRET}) exists`,
    where: SECRET,
  });
  return new QueryFailedError(`INSERT INTO cards VALUES ('${SECRET}')`, [SECRET], driverError);
}

test('of a failed query neither statement nor parameters nor detail is written down', () => {
  const described = describeError(queryFailed('23505', 'duplicate key value violates unique constraint "cards_pkey"'));
  expect(described).toMatchObject({
    type: 'QueryFailedError',
    message: 'duplicate key value violates unique constraint "cards_pkey"',
    sqlState: '23505',
  });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('a message that repeats the refused value is replaced, in the stack and in causes too', () => {
  const failed = queryFailed('22P02', `invalid input syntax for type uuid: "${SECRET}"`);
  const described = describeError(new DomainError('internal', { cause: new Error('outer', { cause: failed }) }));
  expect(described).toMatchObject({ cause: { cause: { message: 'PostgreSQL refused a value (SQLSTATE 22P02)' } } });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('of other properties of an error nothing is written down', () => {
  const error = Object.assign(new Error('socket'), { code: 'ECONNREFUSED', request: { body: SECRET }, config: SECRET });
  expect(describeError(error)).toEqual({
    type: 'Error',
    message: 'socket',
    code: 'ECONNREFUSED',
    stack: expect.stringContaining('logging.spec') as string,
  });
  expect(describeError(SECRET)).toEqual({ type: 'string' });
});

test('causes that go in circles end', () => {
  const error = new Error('a');
  error.cause = error;
  expect(JSON.stringify(describeError(error)).match(/"type"/g)).toHaveLength(4);
});

test('a refusal names its fields, not what they held', () => {
  const refused = new DomainError('request.invalid', {
    fields: [{ field: 'email', message: `${SECRET} is no address` }],
  });
  const described = describeError(refused);
  expect(described).toMatchObject({ code: 'request.invalid', fields: ['email'] });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});
