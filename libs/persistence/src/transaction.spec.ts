import { QueryFailedError } from 'typeorm';
import { isConnectionUnusable, isDatabaseUnavailable, isTemporaryDatabaseError, readOnlyError } from './transaction.js';

const newQueryError = (code: string): Error =>
  new QueryFailedError('SELECT 1', [], Object.assign(new Error(), { code }));

test.each([
  ['25006', 'a read-only server', { unusable: true, unavailable: true, temporary: true }],
  ['57P01', 'a server that is shutting down', { unusable: true, unavailable: true, temporary: true }],
  ['57P02', 'a server that crashed', { unusable: true, unavailable: true, temporary: true }],
  ['57P03', 'a server that is starting', { unusable: true, unavailable: true, temporary: true }],
  ['08006', 'a broken connection', { unusable: true, unavailable: true, temporary: true }],
  ['08P01', 'a broken protocol', { unusable: true, unavailable: true, temporary: true }],
  ['53300', 'too many connections', { unusable: false, unavailable: true, temporary: true }],
  ['58030', 'a broken disk', { unusable: false, unavailable: true, temporary: true }],
  ['25P03', 'a transaction that was idle for too long', { unusable: false, unavailable: false, temporary: true }],
  ['57014', 'a statement that took too long', { unusable: false, unavailable: false, temporary: true }],
  ['55P03', 'a lock that was not available', { unusable: false, unavailable: false, temporary: true }],
  ['40001', 'a conflict', { unusable: false, unavailable: false, temporary: true }],
  [
    '25001',
    'a statement that is not allowed in a transaction',
    { unusable: false, unavailable: false, temporary: false },
  ],
  ['23505', 'a violated constraint', { unusable: false, unavailable: false, temporary: false }],
])('the SQLSTATE %s (%s) is classified as %j', (code, _, expected) => {
  const error = newQueryError(code);
  const [unusable, unavailable, temporary] = [
    isConnectionUnusable,
    isDatabaseUnavailable,
    isTemporaryDatabaseError,
  ].map((classify) => classify(error));
  expect({ unusable, unavailable, temporary }).toEqual(expected);
});

test.each(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])(
  'isDatabaseUnavailable is true for the network error %s',
  (code) => {
    expect(isDatabaseUnavailable(Object.assign(new Error(), { code }))).toBe(true);
  },
);

test.each(['timeout expired', 'Connection terminated unexpectedly', 'Client was closed and is not queryable'])(
  'isDatabaseUnavailable is true for an error without a code and with the message "%s"',
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

test('for the error of a session that begins read-only, isConnectionUnusable and isDatabaseUnavailable are true', () => {
  expect([isConnectionUnusable(readOnlyError()), isDatabaseUnavailable(readOnlyError())]).toEqual([true, true]);
});
