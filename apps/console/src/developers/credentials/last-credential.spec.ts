import type { CredentialEntry } from '@svc/contracts';
import { isLastCredential } from './last-credential.js';

const KEY: CredentialEntry = { kind: 'api-key', credentialId: 'a', createdUTCDate: '2026-03-01T10:00:00.000Z' };
const OTHER: CredentialEntry = { ...KEY, credentialId: 'b' };
const TIME = '2026-03-02T10:00:00.000Z';

test.each<[string, CredentialEntry[], boolean]>([
  ['alone', [], true],
  ['beside a valid one', [OTHER], false],
  ['beside one of another kind', [{ ...OTHER, kind: 'webhook-secret' }], true],
  ['beside one that ends soon', [{ ...OTHER, endsUTCDate: TIME }], true],
  ['beside one that has ended', [{ ...OTHER, revokedUTCDate: TIME }], true],
])('a key %s is the last: %s', (_, others, isLast) => {
  expect(isLastCredential(KEY, [KEY, ...others])).toBe(isLast);
});
