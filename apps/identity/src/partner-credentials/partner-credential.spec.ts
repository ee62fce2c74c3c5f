import {
  hashApiToken,
  newApiToken,
  type PartnerCredential,
  partnerKeyChanged,
  toPartnerCredentialView,
} from './partner-credential.js';

const CREDENTIAL: PartnerCredential = {
  credentialId: 'k-1',
  kind: 'api-key',
  mode: 'test',
  organisationId: 'o-1',
  hash: 'f'.repeat(64),
  prefix: 'svc_test_partner_abcdef',
  createdAt: new Date('2026-03-01T10:00:00Z'),
  revokedAt: null,
  version: 2,
};
const REVOKED: PartnerCredential = { ...CREDENTIAL, revokedAt: new Date('2026-03-02T10:00:00Z'), version: 3 };

test.each(['test', 'live'] as const)('an API token of mode %s consists of a prefix and 32 random bytes', (mode) => {
  const token = newApiToken(mode);
  expect(token).toMatch(new RegExp(`^svc_${mode}_token_[A-Za-z0-9_-]{43}$`));
  expect(newApiToken(mode)).not.toBe(token);
});

test('hashApiToken returns the SHA-256 in the format that sha256sum prints', () => {
  expect(hashApiToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('toPartnerCredentialView omits the hash and the organisation of a credential', () => {
  const view = {
    credentialId: 'k-1',
    mode: 'test',
    prefix: 'svc_test_partner_abcdef',
    createdUTCDate: '2026-03-01T10:00:00.000Z',
  };
  expect(toPartnerCredentialView(CREDENTIAL)).toStrictEqual({ ...view, revoked: false });
  expect(toPartnerCredentialView(REVOKED)).toStrictEqual({
    ...view,
    revoked: true,
    revokedUTCDate: '2026-03-02T10:00:00.000Z',
  });
});

test('the event of an API key contains the hash of the key, and whether the key is revoked', () => {
  const payload = { keyId: 'k-1', organisationId: 'o-1', mode: 'test', hash: 'f'.repeat(64) };
  const event = { type: { name: 'partner-key.changed.v1' }, aggregateId: 'k-1' };
  expect(partnerKeyChanged(CREDENTIAL)).toStrictEqual([
    { ...event, aggregateVersion: 2, payload: { ...payload, revoked: false } },
  ]);
  expect(partnerKeyChanged(REVOKED)).toStrictEqual([
    { ...event, aggregateVersion: 3, payload: { ...payload, revoked: true } },
  ]);
});

test('an API token has no event', () => {
  expect(partnerKeyChanged({ ...CREDENTIAL, kind: 'api-token' })).toEqual([]);
});
