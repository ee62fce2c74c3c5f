import { hashApiKey, isApiKeyShaped, newApiKey } from './api-key.js';

describe('API keys', () => {
  it.each([
    ['partner', 'test'],
    ['merchant', 'live'],
    ['site', 'test'],
  ] as const)('tell a %s key of mode %s by their beginning', (kind, mode) => {
    const apiKey = newApiKey(kind, mode);
    const prefix = `svc_${mode}_${kind}_`;
    expect(apiKey.startsWith(prefix)).toBe(true);
    expect(Buffer.from(apiKey.slice(prefix.length), 'base64url')).toHaveLength(32);
    expect(isApiKeyShaped(apiKey)).toBe(true);
  });

  it('are another one each time', () => {
    expect(new Set(Array.from({ length: 100 }, () => newApiKey('site', 'test'))).size).toBe(100);
  });

  it('are looked up by the SHA-256 of the whole key, as sha256sum prints it', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    const apiKey = newApiKey('site', 'test');
    expect(hashApiKey(apiKey)).not.toBe(hashApiKey(apiKey.replace('svc_test', 'svc_live')));
  });

  const random = 'A'.repeat(43);
  it.each([
    undefined,
    null,
    '',
    7,
    [`svc_test_site_${random}`],
    `svc_test_site_${random.slice(1)}`,
    `svc_test_site_${random}A`,
    `svc_prod_site_${random}`,
    `svc_test_admin_${random}`,
    `SVC_TEST_SITE_${random}`,
    ` svc_test_site_${random}`,
    `svc_test_site_${random}\n`,
    `svc_test_site_${random.slice(1)}+`,
  ])('do not look like %j', (text) => {
    expect(isApiKeyShaped(text)).toBe(false);
  });
});
