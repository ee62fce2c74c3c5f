import { isGuard, isVersion } from './guards.ts';

it.each([
  ...['merchant_id', 'customerReference', 'session_id', 'hash', 'mode', 'apiVersion', 'payable_version', 'feed_txid'],
  ...['payableState', 'revoked', 'revokedAt', 'leased_until', 'LEASED_UNTIL', 'expires_at', 'signsFrom', 'at'],
])('%s is the name of a guard', (name) => {
  expect(isGuard(name)).toBe(true);
});

it.each(['merchantName', 'statusCode', 'id', 'amount', 'deliveredCount', 'from', 'attempts', 'cancel_url', ''])(
  '%s is not the name of a guard',
  (name) => {
    expect(isGuard(name)).toBe(false);
  },
);

it('a version of the API is not a version of a row', () => {
  expect(['payable_version', 'generation', 'api_version', 'mode'].map(isVersion)).toEqual([true, true, false, false]);
});
