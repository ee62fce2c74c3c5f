import { createKeyError, hasApiKeyFormat, hashApiKey, newApiKey } from './api-key.js';

describe('an API key', () => {
  it.each([
    ['partner', 'test'],
    ['merchant', 'live'],
    ['site', 'test'],
  ] as const)('of a %s in mode %s has a prefix with its kind and mode', (kind, mode) => {
    const apiKey = newApiKey(kind, mode);
    const prefix = `svc_${mode}_${kind}_`;
    expect(apiKey.startsWith(prefix)).toBe(true);
    expect(Buffer.from(apiKey.slice(prefix.length), 'base64url')).toHaveLength(32);
    expect(hasApiKeyFormat(apiKey)).toBe(true);
  });

  it('differs from every other generated key', () => {
    expect(new Set(Array.from({ length: 100 }, () => newApiKey('site', 'test'))).size).toBe(100);
  });

  it('is stored as the SHA-256 of the whole key, in the format that sha256sum prints', () => {
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
  ])('is never %j, because that value does not have the format of a key', (text) => {
    expect(hasApiKeyFormat(text)).toBe(false);
  });

  const FORM =
    'x-api-key has no key: one of a site or a merchant is svc_test_site_ or svc_live_site_ and 43 more characters.';
  it.each<[unknown, string, string]>([
    [undefined, 'key-missing', 'The header x-api-key is missing.'],
    ['', 'key-missing', 'The header x-api-key is missing.'],
    [['a', 'b'], 'key-malformed', 'The header x-api-key was sent more than once.'],
    [`whsec_${random}`, 'key-malformed', 'x-api-key has a webhook secret: send the API key.'],
    [
      `svc_live_partner_${random}`,
      'merchant-key-needed',
      'x-api-key has the key of a partner: send one of a site or a merchant.',
    ],
    [`svc_admin_${random}`, 'key-malformed', FORM],
    [`svc_test_admin_${random}`, 'key-malformed', FORM],
    [`key=svc_live_partner_${random}`, 'key-malformed', FORM],
    [`svc_test_site_${random.slice(1)}`, 'key-malformed', FORM],
    [
      `svc_test_merchant_${random}`,
      'invalid',
      'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.',
    ],
  ])('is rejected if the header is %j, with the error credentials.%s and the message: %s', (header, code, message) => {
    const error = createKeyError(header, ['site', 'merchant']);
    expect([error.code, error.message, error.entry.httpStatus]).toEqual([`credentials.${code}`, message, 401]);
  });

  it.each(['merchant', 'site'])('of a %s is rejected where the key of a partner is needed', (kind) => {
    const { code, message } = createKeyError(`svc_test_${kind}_${random}`, ['partner']);
    expect([code, message]).toEqual([
      'credentials.partner-key-needed',
      `x-api-key has the key of a ${kind}: send one of a partner.`,
    ]);
  });
});
