import { legacySignature, legacySignatureText, verifyLegacySignature } from './legacy-signature.js';

// The signatures were computed with `openssl dgst -sha256`, not with the code under test.
const apiKey = 'svc_test_site_0123456789abcdef';
const success = {
  sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  amount: 12345,
  currencyISOCode: 'ZAR',
  merchantOrderId: 'order-1001',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentStatus: 'Success',
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  signature: '0e73e536205bd4a681c13de11e4a09254403e6bf2efc9add5f90bf4a53b43ac5',
};
const failed = {
  ...success,
  merchantOrderId: 'Bestellung ä',
  paymentStatus: 'Failed',
  userMessage: 'Your bank declined the payment.',
  signature: '522b47dd4677c5d689cce0aa43ea8a47aeb95e5c10025bf5a11fb88bb815a4fb',
};

describe('the older signature in the webhook body (E3)', () => {
  it('covers a text of nine parts, of which the last is empty if userMessage is absent', () => {
    expect(legacySignatureText(success, apiKey)).toBe(
      `${apiKey}|${success.sessionId}|12345|ZAR|order-1001|1VQ5K3P0ABCDEFGHJK|Success|2026-11-20T18:03:36.123Z|`,
    );
  });

  it('equals the fixed test vectors, of which one contains a character outside ASCII', () => {
    expect(legacySignature(success, apiKey)).toBe(success.signature);
    expect(legacySignature(failed, apiKey)).toBe(failed.signature);
    expect(verifyLegacySignature(success, apiKey)).toBe(true);
    expect(verifyLegacySignature(failed, ['svc_test_site_old', apiKey])).toBe(true);
  });

  it.each([
    ['sessionId', 'other'],
    ['amount', 12344],
    ['currencyISOCode', 'USD'],
    ['merchantOrderId', 'order-1002'],
    ['paymentReference', 'other'],
    ['paymentStatus', 1],
    ['paymentUTCDate', '2026-11-20T18:03:36.124Z'],
    ['userMessage', 'x'],
    ['signature', success.signature.toUpperCase()],
    ['signature', ''],
    ['signature', `x${success.signature}`],
    ['signature', `${success.signature}x`],
    ['signature', [success.signature]],
    ['signature', 1],
  ])('is invalid when %s is %p', (field, value) => {
    expect(verifyLegacySignature({ ...success, [field]: value }, apiKey)).toBe(false);
  });

  it('is invalid with another key, without a key, or with an empty key', () => {
    expect(verifyLegacySignature(success, 'svc_test_site_other')).toBe(false);
    expect(verifyLegacySignature(success, [])).toBe(false);
    const keyless = { ...success, signature: legacySignature(success, '') };
    expect(verifyLegacySignature(keyless, '')).toBe(false);
  });
});
