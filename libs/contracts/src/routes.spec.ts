import { appFor, type Host } from './routes.js';

test.each<[Host, string, string | undefined]>([
  ['api', '/v1/auth/service/login', 'identity'],
  ['api', '/.well-known/jwks.json', 'identity'],
  ['api', '/v1/authors', undefined],
  ['api', '/admin/v1/merchants', undefined],
  ['api', '/v1/codes/aGk/dGhlcmU=', 'code-decoder'],
  ['api', '/business/api/v1/merchants/1001/sites/5001/invoices', 'code-decoder'],
  ['gateway', '/api/v3.1/sessions', 'hosted-gateway'],
  ['gateway', '/pay', 'hosted-gateway'],
  ['gateway', '/pay/assets/pay.js', 'hosted-gateway'],
  ['gateway', '/c/01234567890123456789', 'hosted-gateway'],
  ['gateway', '/cards', undefined],
  ['gateway', '/admin/v1/dead-letters/hosted-gateway', undefined],
  ['shop', '/', 'demo-shop'],
  ['shop', '/orders/1', 'demo-shop'],
  ['admin', '/admin/v1/merchants/1001/sites', 'identity'],
  ['admin', '/admin/v1/notifications', 'webhook-dispatcher'],
  ['admin', '/admin/v1/dead-letters/payment-processor', 'payment-processor'],
  ['admin', '/admin/v1/history/rebuild', 'payment-history'],
  ['admin', '/', undefined],
])('%s %s is answered by %s', (host, path, app) => expect(appFor(host, path, 'GET')).toBe(app));

test.each([
  ['POST', '/v1/payments', 'payment-processor'],
  ['POST', '/v1/cards', 'payment-processor'],
  ['DELETE', '/v1/cards/card_1', 'payment-processor'],
])('%s %s is answered by %s', (method, path, app) => expect(appFor('api', path, method)).toBe(app));

test('reading payments is not for the app that makes them', () => {
  expect(appFor('api', '/v1/payments', 'GET')).toBe('payment-history');
  expect(appFor('api', '/v1/payments/ABC', 'GET')).toBe('payment-history');
  expect(appFor('api', '/v1/payments', 'HEAD')).toBe('payment-history');
});
