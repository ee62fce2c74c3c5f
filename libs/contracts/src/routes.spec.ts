import { appFor, bySpecificity, type Host, type Route } from './routes.js';

test.each<[Host, string, string | undefined]>([
  ['api', '/v1/auth/service/login', 'identity'],
  ['api', '/.well-known/jwks.json', 'identity'],
  ['api', '/health', 'identity'],
  ['api', '/v1/verifications/v-1', 'payment-processor'],
  ['gateway', '/health', 'hosted-gateway'],
  ['admin', '/health', 'identity'],
  ['admin', '/admin/v1/organisations', 'identity'],
  ['admin', '/admin/v1/token-keys', 'identity'],
  ['admin', '/admin/v1/audit-log', 'identity'],
  ['admin', '/admin/v1/dead-letters/identity', 'identity'],
  ['admin', '/admin/v1/dead-letters/hosted-gateway', 'hosted-gateway'],
  ['admin', '/admin/v1/dead-letters/webhook-dispatcher', 'webhook-dispatcher'],
  ['admin', '/admin/v1/dead-letters/code-decoder', 'code-decoder'],
  ['admin', '/admin/v1/dead-letters/payment-history', 'payment-history'],
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

test('a longer path comes first, and of one path the one that names a method', () => {
  const route = (path: string, method?: 'GET'): Route => ({ host: 'api', app: 'a', path, ...(method && { method }) });
  const sorted = [route('/a/b', 'GET'), route('/a/b'), route('/a', 'GET'), route('/a')];
  for (const [i, earlier] of sorted.entries())
    for (const later of sorted.slice(i + 1)) {
      expect(bySpecificity(earlier, later)).toBeLessThan(0);
      expect(bySpecificity(later, earlier)).toBeGreaterThan(0);
    }
  expect(bySpecificity(route('/a'), route('/b'))).toBe(0);
});
