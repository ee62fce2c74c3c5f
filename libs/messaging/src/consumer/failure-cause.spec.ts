import { QueryFailedError } from 'typeorm';
import { failureCause } from './failure-cause.js';

const failedQuery = (code: string): Error =>
  new QueryFailedError('SELECT 1', [], Object.assign(new Error(code), { code }));

test.each([
  ['unavailable', ['08006', '53300', '57P01', '57P02', '57P03', '58030', '25006']],
  ['blocked', ['40001', '40P01', '55P03']],
  ['timeout', ['57014']],
  ['message', ['23505', '22P02', '42P01', '25P02']],
] as const)('the cause of a failed query is "%s" for the SQLSTATEs %j', (cause, codes) => {
  for (const code of codes) expect(failureCause(failedQuery(code))).toBe(cause);
});

test('the cause of a lost connection is "unavailable", and the cause of an error without a code is "message"', () => {
  expect(failureCause(new Error('Connection terminated unexpectedly'))).toBe('unavailable');
  expect(failureCause(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe('unavailable');
  expect(failureCause(new Error('cannot be read'))).toBe('message');
  expect(failureCause('thrown')).toBe('message');
});

test('an error that wraps a query error has the cause of the query error, and a cycle of errors causes no endless loop', () => {
  expect(failureCause(new Error('a', { cause: new Error('b', { cause: failedQuery('55P03') }) }))).toBe('blocked');
  const cycle = new Error('cycle');
  cycle.cause = cycle;
  expect(failureCause(cycle)).toBe('message');
});
