import { verifyLegacySignature } from './legacy-signature.js';
import { signTestWebhook } from './signed-webhook.js';
import { verifyWebhook } from './verify-webhook.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

it('both signatures of a test webhook are valid, like those of the platform', () => {
  const { headers, rawBody } = signTestWebhook({ secret, apiKey: 'svc_test_site_A' });
  const payment = verifyWebhook({ headers, rawBody, secret });
  expect(payment).toMatchObject({ amount: 12_345, paymentStatus: 'Success', status: 'Success' });
  expect(verifyLegacySignature(payment, 'svc_test_site_A')).toBe(true);
});

it('a test webhook without a given payment and API key has the fields of a notification', () => {
  const { headers, rawBody } = signTestWebhook({ secret });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const payment = verifyWebhook({ headers, rawBody, secret });
  expect(payment).toMatchObject({
    currencyISOCode: 'ZAR',
    merchantOrderId: 'order-1',
    paymentReference: '1VQ5K3P0ABCDEFGHJK',
  });
  expect(verifyLegacySignature(payment, 'no key was given')).toBe(true);
});

it('a test webhook has the given content and id', () => {
  const payment = {
    merchantOrderId: 'A-7',
    amount: 100,
    paymentStatus: 'Failed',
    userMessage: 'The card has expired.',
  } as const;
  const { headers, rawBody } = signTestWebhook({ secret, payment, id: 'again' });
  expect(headers['webhook-id']).toBe('again');
  expect(verifyWebhook({ headers, rawBody, secret })).toMatchObject(payment);
});

it('a test webhook with an old signedAt is refused as too old', () => {
  const { headers, rawBody } = signTestWebhook({ secret, signedAt: new Date('2026-03-01T10:00:00Z') });
  const now = new Date('2026-03-01T10:05:01Z');
  expect(() => verifyWebhook({ headers, rawBody, secret, now })).toThrow('signed too long ago');
});
