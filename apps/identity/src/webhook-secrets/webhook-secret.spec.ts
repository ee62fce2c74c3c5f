import { newWebhookSecret } from './webhook-secret.js';

describe('newWebhookSecret', () => {
  it('is 32 bytes in base64 behind whsec_, another one each time', () => {
    const secret = newWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(newWebhookSecret()).not.toBe(secret);
  });
});
