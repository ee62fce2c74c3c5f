import { findGuard, findStrongestGuard, splitWords } from './guard-words.ts';

it('reads names of columns, properties and constants', () => {
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
])('the name %s guards by %s', (name, guard) => {
  expect(findGuard(name)).toBe(guard);
});

it.each(['merchantName', 'statusCode', 'sqlState', 'id', 'amount', 'from', 'attempts', 'cancel_url', ''])(
  'the name %s guards nothing',
  (name) => {
    expect(findGuard(name)).toBeUndefined();
  },
);

it('names the strongest guard of several', () => {
  expect(findStrongestGuard(['siteId', 'id', 'leaseId'])).toBe('lease');
});
