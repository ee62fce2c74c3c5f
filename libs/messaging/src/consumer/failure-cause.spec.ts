import { QueryFailedError } from 'typeorm';
import { failureCause } from './failure-cause.js';

const failed = (code: string): Error => new QueryFailedError('SELECT 1', [], Object.assign(new Error(code), { code }));

test.each([
  ['unavailable', ['08006', '53300', '57P01', '57P02', '57P03', '58030', '25006']],
  ['blocked', ['40001', '40P01', '55P03']],
  ['timeout', ['57014']],
  ['message', ['23505', '22P02', '42P01', '25P02']],
] as const)('%s: %j', (cause, codes) => {
  for (const code of codes) expect(failureCause(failed(code))).toBe(cause);
});

test('a connection that is lost is the database’s, an error without a code the message’s', () => {
  expect(failureCause(new Error('Connection terminated unexpectedly'))).toBe('unavailable');
  expect(failureCause(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe('unavailable');
  expect(failureCause(new Error('cannot be read'))).toBe('message');
  expect(failureCause('thrown')).toBe('message');
});

test('an error that a handler wrapped is what it wraps, however deep, and a circle ends', () => {
  expect(failureCause(new Error('a', { cause: new Error('b', { cause: failed('55P03') }) }))).toBe('blocked');
  const circle = new Error('circle');
  circle.cause = circle;
  expect(failureCause(circle)).toBe('message');
});
