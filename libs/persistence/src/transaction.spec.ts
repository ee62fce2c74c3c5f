import { QueryFailedError } from 'typeorm';
import { isConnectionUnusable, isDatabaseUnavailable, isTemporaryDatabaseError, readOnlyError } from './transaction.js';

const sql = (code: string): Error => new QueryFailedError('SELECT 1', [], Object.assign(new Error(), { code }));

test.each([
  ['25006', 'a server that only reads', { unusable: true, unavailable: true, later: true }],
  ['57P01', 'a server that shuts down', { unusable: true, unavailable: true, later: true }],
  ['57P02', 'a server that crashed', { unusable: true, unavailable: true, later: true }],
  ['57P03', 'a server that starts', { unusable: true, unavailable: true, later: true }],
  ['08006', 'a broken connection', { unusable: true, unavailable: true, later: true }],
  ['08P01', 'a broken protocol', { unusable: true, unavailable: true, later: true }],
  ['53300', 'too many connections', { unusable: false, unavailable: true, later: true }],
  ['58030', 'a broken disk', { unusable: false, unavailable: true, later: true }],
  ['25P03', 'a transaction that was idle', { unusable: false, unavailable: false, later: true }],
  ['57014', 'a statement that took too long', { unusable: false, unavailable: false, later: true }],
  ['55P03', 'a lock that was not to be had', { unusable: false, unavailable: false, later: true }],
  ['40001', 'a conflict', { unusable: false, unavailable: false, later: true }],
  ['25001', 'a misuse of a transaction', { unusable: false, unavailable: false, later: false }],
  ['23505', 'a broken constraint', { unusable: false, unavailable: false, later: false }],
])('the error code %s, %s, is classified', (code, _, expected) => {
  const error = sql(code);
  const [unusable, unavailable, later] = [isConnectionUnusable, isDatabaseUnavailable, isTemporaryDatabaseError].map(
    (is) => is(error),
  );
  expect({ unusable, unavailable, later }).toEqual(expected);
});

test.each(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])(
  'after %s, the database counts as unreachable',
  (code) => {
    expect(isDatabaseUnavailable(Object.assign(new Error(), { code }))).toBe(true);
  },
);

test.each(['timeout expired', 'Connection terminated unexpectedly', 'Client was closed and is not queryable'])(
  'an error without a code: %s',
  (message) => expect(isDatabaseUnavailable(new Error(message))).toBe(true),
);

test.each([undefined, null, 'text', {}, new Error('something else')])(
  '%p is not an error of the database connection',
  (error) => {
    expect([isConnectionUnusable(error), isDatabaseUnavailable(error), isTemporaryDatabaseError(error)]).toEqual([
      false,
      false,
      false,
    ]);
  },
);

test('a session that begins read-only is unavailable, like one that becomes read-only', () => {
  expect([isConnectionUnusable(readOnlyError()), isDatabaseUnavailable(readOnlyError())]).toEqual([true, true]);
});
