import { findGuard, findGuardOfRows, findStrongestGuard, splitWords } from './guard-words.ts';

it('splitWords splits the names of columns, properties and constants', () => {
  expect(['leased_until', 'leasedUntil', 'LEASED_UNTIL'].map(splitWords)).toEqual(Array(3).fill(['leased', 'until']));
});

it.each([
  ['merchant_id', 'owner'],
  ['customerReference', 'owner'],
  ['mode', 'mode'],
  ['apiVersion', 'mode'],
  ['payable_version', 'version'],
  ['feed_txid', 'version'],
  ['payableState', 'state'],
  ['revoked', 'state'],
  ['revokedAt', 'state'],
  ['leased_until', 'lease'],
  ['expires_at', 'expiry'],
  ['signsFrom', 'expiry'],
  ['at', 'expiry'],
])('the name %s is the name of a guard on %s', (name, guard) => {
  expect(findGuard(name)).toBe(guard);
});

it.each([
  'merchantName',
  'statusCode',
  'sqlState',
  'id',
  'amount',
  'deliveredCount',
  'from',
  'attempts',
  'cancel_url',
  '',
])('the name %s is not the name of a guard', (name) => {
  expect(findGuard(name)).toBeUndefined();
});

it('findStrongestGuard returns the guard that has precedence over the others', () => {
  expect(findStrongestGuard(['siteId', 'id', 'leaseId'])).toBe('lease');
});

it('findGuardOfRows also recognises what a row belongs to, but the other guards have precedence', () => {
  expect([['p.session_id'], ['hash'], ['sessionCount', 'mode'], ['amount']].map(findGuardOfRows)).toEqual([
    'owner',
    'owner',
    'mode',
    undefined,
  ]);
});
