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
  endsAt: null,
  revokedAt: null,
  version: 2,
};
const REVOKED: WebhookSecret = { ...SECRET, revokedAt: new Date('2026-03-02T10:00:00Z'), version: 3 };

test('toWebhookSecretView returns the dates of a secret, but not the encrypted secret', () => {
  const view = { secretId: 's-1', mode: 'live', createdUTCDate: '2026-03-01T10:00:00.000Z' };
  expect(toWebhookSecretView(SECRET)).toStrictEqual({ ...view, revoked: false });
  const revokedUTCDate = '2026-03-02T10:00:00.000Z';
  expect(toWebhookSecretView(REVOKED)).toStrictEqual({ ...view, revoked: true, revokedUTCDate });
});

test('the event for webhook-dispatcher contains the encrypted secret and is never marked as primary', () => {
  const payload = { secretId: 's-1', mode: 'live', merchantId: 1001, siteId: 5001, sealed: 'sealed' };
  const event = { type: { name: 'signing-secret.changed.v1' }, aggregateId: 's-1' };
  const commonPayload = { ...payload, purpose: 'webhook-secret', primary: false };
  expect(signingSecretChanged(SECRET)).toStrictEqual({
    ...event,
    aggregateVersion: 2,
    payload: { ...commonPayload, revoked: false },
  });
  expect(signingSecretChanged(REVOKED)).toStrictEqual({
    ...event,
    aggregateVersion: 3,
    payload: { ...commonPayload, revoked: true },
  });
});

test('the event for hosted-gateway contains the owner and mode of a secret, but no secret data', () => {
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
