import {
  newWebhookSecret,
  signingSecretChanged,
  toWebhookSecretView,
  type WebhookSecret,
  webhookSecretChanged,
} from './webhook-secret.js';

describe('newWebhookSecret', () => {
  it('returns 32 random bytes in base64 with the prefix whsec_', () => {
    const secret = newWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(newWebhookSecret()).not.toBe(secret);
  });
});

const SECRET: WebhookSecret = {
  secretId: 's-1',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  sealed: 'sealed',
  createdAt: new Date('2026-03-01T10:00:00Z'),
  revokedAt: null,
  version: 2,
};
const REVOKED: WebhookSecret = { ...SECRET, revokedAt: new Date('2026-03-02T10:00:00Z'), version: 3 };

test('the view has the dates of creation and revocation, and not the encrypted secret', () => {
  const shown = { secretId: 's-1', mode: 'live', createdUTCDate: '2026-03-01T10:00:00.000Z' };
  expect(toWebhookSecretView(SECRET)).toStrictEqual({ ...shown, revoked: false });
  const revokedUTCDate = '2026-03-02T10:00:00.000Z';
  expect(toWebhookSecretView(REVOKED)).toStrictEqual({ ...shown, revoked: true, revokedUTCDate });
});

test('webhook-dispatcher receives the encrypted secret; a webhook secret is never primary', () => {
  const payload = { secretId: 's-1', mode: 'live', merchantId: 1001, siteId: 5001, sealed: 'sealed' };
  const event = { type: { name: 'signing-secret.changed.v1' }, aggregateId: 's-1' };
  const both = { ...payload, purpose: 'webhook-secret', primary: false };
  expect(signingSecretChanged(SECRET)).toStrictEqual({
    ...event,
    aggregateVersion: 2,
    payload: { ...both, revoked: false },
  });
  expect(signingSecretChanged(REVOKED)).toStrictEqual({
    ...event,
    aggregateVersion: 3,
    payload: { ...both, revoked: true },
  });
});

test('the other services receive its owner and mode, and no secret data', () => {
  const payload = { secretId: 's-1', mode: 'live', merchantId: 1001, siteId: 5001 };
  const event = { type: { name: 'webhook-secret.changed.v1' }, aggregateId: 's-1' };
  expect(webhookSecretChanged(SECRET)).toStrictEqual({
    ...event,
    aggregateVersion: 2,
    payload: { ...payload, revoked: false },
  });
  expect(webhookSecretChanged(REVOKED)).toStrictEqual({
    ...event,
    aggregateVersion: 3,
    payload: { ...payload, revoked: true },
  });
});
