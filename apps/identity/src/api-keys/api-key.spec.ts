import { newApiKey } from '@svc/auth';
import {
  type ApiKey,
  apiKeyChanged,
  findSuccessor,
  recognisablePrefix,
  signingKeyChanged,
  toApiKeyView,
} from './api-key.js';

const KEY: ApiKey = {
  keyId: 'b',
  kind: 'site',
  mode: 'test',
  merchantId: 1001,
  siteId: 5001,
  hash: 'f'.repeat(64),
  prefix: 'svc_test_site_abcdef',
  sealed: 'sealed',
  isPrimary: true,
  createdAt: new Date('2026-03-01T10:00:00.000Z'),
  endsAt: null,
  revokedAt: null,
  version: 4,
};

describe('recognisablePrefix', () => {
  it.each(['merchant', 'site'] as const)(
    'returns the constant beginning of a %s key and the first six random characters',
    (kind) => {
      const apiKey = newApiKey(kind, 'live');
      const prefix = recognisablePrefix(apiKey);
      expect(apiKey.startsWith(prefix)).toBe(true);
      expect(prefix).toHaveLength(`svc_live_${kind}_`.length + 6);
    },
  );

  it.each([
    'whsec_c2VjcmV0',
    'xsvc_test_site_abcdef',
    'svc_test_site_abcde',
    'svc__site_abcdef',
    'svc_test__abcdef',
    'svc_1_site_abcdef',
    'svc_test_1_abcdef',
  ])('throws for %j, because it is not an API key and may be another secret', (text) => {
    expect(() => recognisablePrefix(text)).toThrow('not an API key');
  });
});

describe('findSuccessor', () => {
  const keys = [
    { keyId: 'd', mode: 'live' as const, revokedAt: null },
    { keyId: 'c', mode: 'test' as const, revokedAt: new Date(0) },
    { keyId: 'b', mode: 'test' as const, revokedAt: null },
    { keyId: 'a', mode: 'test' as const, revokedAt: null },
  ];

  it('returns the newest valid key of the same mode', () => {
    expect(findSuccessor({ keyId: 'z', mode: 'test' }, keys)?.keyId).toBe('b');
  });

  it('never returns the key that is being revoked', () => {
    expect(findSuccessor({ keyId: 'b', mode: 'test' }, keys)?.keyId).toBe('a');
  });

  it('returns undefined if the mode has no other valid key', () => {
    expect(findSuccessor({ keyId: 'd', mode: 'live' }, keys)).toBeUndefined();
  });
});

describe('apiKeyChanged', () => {
  it('contains the hash of a key, but not the encrypted key', () => {
    const { payload, ...event } = apiKeyChanged(KEY);
    expect(event).toEqual({ type: { name: 'api-key.changed.v1' }, aggregateId: 'b', aggregateVersion: 4 });
    expect(apiKeyChanged({ ...KEY, revokedAt: new Date(0) }).payload.revoked).toBe(true);
    expect(payload).toEqual({
      keyId: 'b',
      kind: 'site',
      mode: 'test',
      merchantId: 1001,
      siteId: 5001,
      hash: 'f'.repeat(64),
      revoked: false,
    });
  });
});

describe('signingKeyChanged', () => {
  it('contains the encrypted key, but not the hash of the key', () => {
    const { payload, ...event } = signingKeyChanged({ ...KEY, isPrimary: false, revokedAt: new Date(0) });
    expect(event).toEqual({ type: { name: 'signing-secret.changed.v1' }, aggregateId: 'b', aggregateVersion: 4 });
    expect(signingKeyChanged(KEY).payload).toMatchObject({ primary: true, revoked: false });
    expect(payload).toEqual({
      secretId: 'b',
      purpose: 'api-key',
      mode: 'test',
      merchantId: 1001,
      siteId: 5001,
      sealed: 'sealed',
      primary: false,
      revoked: true,
    });
  });

  it('contains no site for a merchant key, like apiKeyChanged', () => {
    const key: ApiKey = { ...KEY, kind: 'merchant', siteId: null };
    for (const { payload } of [apiKeyChanged(key), signingKeyChanged(key)]) {
      expect(payload).not.toHaveProperty('siteId');
      expect(payload).toMatchObject({ merchantId: 1001 });
    }
  });
});

describe('toApiKeyView', () => {
  it('omits the hash and the encrypted key', () => {
    const revokedKey = { ...KEY, revokedAt: new Date('2026-03-02T10:00:00.000Z') };
    expect(toApiKeyView(revokedKey)).toMatchObject({ revoked: true, revokedUTCDate: '2026-03-02T10:00:00.000Z' });
    expect(toApiKeyView(KEY)).toStrictEqual({
      keyId: 'b',
      kind: 'site',
      mode: 'test',
      prefix: 'svc_test_site_abcdef',
      primary: true,
      revoked: false,
      createdUTCDate: '2026-03-01T10:00:00.000Z',
    });
  });
});
