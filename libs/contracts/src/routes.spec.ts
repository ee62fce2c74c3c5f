import { appFor, bySpecificity, type Host, pathPattern, type Route, ROUTES } from './routes.js';

test.each<[Host, string, string | undefined]>([
  ['api', '/v1/auth/service/login', 'identity'],
  ['api', '/.well-known/jwks.json', 'identity'],
  ['api', '/health', 'identity'],
  ['api', '/reference', 'identity'],
  ['api', '/reference/partner.html', 'identity'],
  ['admin', '/reference/administration.html', 'identity'],
  ['gateway', '/C/01234567890123456789', 'hosted-gateway'],
  ['gateway', '/reference', undefined],
  ['api', '/v1/verifications/v-1', 'payment-processor'],
  ['gateway', '/health', 'hosted-gateway'],
  ['admin', '/health', 'identity'],
  ['admin', '/admin/v1/people/sign-in-link', 'identity'],
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
  ['api', '/business/api/v1/merchants/1001/sites/5001/invoices/payments', 'code-decoder'],
  ['api', '/business/api/v1/merchants/1001/sites/5001/tills/TILL-1/code', 'code-decoder'],
  ['api', '/business/api/v1/merchants/1001/sites/5001/invoices/I/payments', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/sites/5001/payments', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/sites/5001/payments/P', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/invoices/I/payments', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/payments', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/payments/P', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/payment-search', 'merchant-retrieval'],
  ['api', '/business/api/v1/merchants/1001/refunds', 'payment-processor'],
  ['api', '/business/api/v1/merchants/1001/disputes', 'payment-processor'],
  ['api', '/business/api/v1/merchants/1001/refunds/R', undefined],
  ['api', '/business/api/v1/merchants/1001/settlements/2026-03-01', 'payment-processor'],
  ['gateway', '/errors/session.expired', 'identity'],
  ['admin', '/admin/v1/card-keys', 'payment-processor'],
  ['admin', '/admin/v1/merchant-accounts', 'payment-processor'],
  ['admin', '/admin/v1/velocity-limits', 'payment-processor'],
  ['admin', '/admin/v1/velocity-counters/releases', 'payment-processor'],
  ['admin', '/admin/v1/settlements', 'payment-processor'],
  ['admin', '/admin/v1/settlement-reports/unmatched', 'payment-processor'],
  ['admin', '/admin/v1/refunds', 'payment-processor'],
  ['admin', '/admin/v1/disputes', 'payment-processor'],
  ['admin', '/admin/v1/ledger/days/2026-03-01', 'payment-processor'],
  ['api', '/admin/v1/ledger/days', undefined],
  ['admin', '/admin/v1/reconciliations/1', 'payment-processor'],
  ['admin', '/admin/v1/restores/open', 'payment-processor'],
  ['admin', '/admin/v1/ledger/days/2026-03-01', 'payment-processor'],
  ['api', '/admin/v1/ledger/days', undefined],
  ['api', '/business/api/v1/merchants/1001/payments/P/x', undefined],
  ['api', '/business/api/v1/merchants//payments', undefined],
  ['api', '/business/api/v1/merchants/1001/payments/', undefined],
  ['api', '/x/business/api/v1/merchants/1001/payments', undefined],
  ['api', '/business/api/v1/merchants/1001', undefined],
  ['admin', '/business/api/v1/merchants/1001/payments', undefined],
  ['admin', '/admin/v1/retrieval/rebuild', 'merchant-retrieval'],
  ['admin', '/admin/v1/dead-letters/merchant-retrieval', 'merchant-retrieval'],
  ['gateway', '/api/v3.1/sessions', 'hosted-gateway'],
  ['gateway', '/pay', 'hosted-gateway'],
  ['gateway', '/pay/csp-reports', 'hosted-gateway'],
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
])('%s %s is routed to %s', (host, path, app) => expect(appFor(host, path, 'GET')).toBe(app));

test('each path of the route table begins with a slash', () => {
  expect(ROUTES.filter(({ path }) => !path.startsWith('/'))).toEqual([]);
});

test.each([
  ['POST', '/v1/payments', 'payment-processor'],
  ['POST', '/v1/cards', 'payment-processor'],
  ['DELETE', '/v1/cards/card_1', 'payment-processor'],
])('%s %s is routed to %s', (method, path, app) => expect(appFor('api', path, method)).toBe(app));

test('payments are read from payment-history, not from the app that creates them', () => {
  expect(appFor('api', '/v1/payments', 'GET')).toBe('payment-history');
  expect(appFor('api', '/v1/payments/ABC', 'GET')).toBe('payment-history');
  expect(appFor('api', '/v1/payments', 'HEAD')).toBe('payment-history');
});

test('bySpecificity sorts a longer path before a shorter one, and a route with a method before one without', () => {
  const route = (path: string, method?: 'GET'): Route => ({ host: 'api', app: 'a', path, ...(method && { method }) });
  const sorted = [route('/a/b', 'GET'), route('/a/b'), route('/a', 'GET'), route('/a')];
  for (const [i, earlier] of sorted.entries())
    for (const later of sorted.slice(i + 1)) {
      expect(bySpecificity(earlier, later)).toBeLessThan(0);
      expect(bySpecificity(later, earlier)).toBeGreaterThan(0);
    }
  expect(bySpecificity(route('/a'), route('/b'))).toBe(0);
});

// The Kubernetes Gateway API defines no precedence among regular expressions, nor between regular expressions and
// prefixes.
test('no path matches two patterns, or a pattern and the prefix of another route', () => {
  const patterns = ROUTES.filter(({ path }) => path.includes('*'));
  for (const { host, path } of patterns) {
    for (const examplePath of [path.replaceAll('*', 'x'), path.replaceAll('*', 'payments')]) {
      const others = ROUTES.filter((route) => route.host === host && route.path !== path).filter((route) => {
        const pattern = pathPattern(route.path);
        return pattern === undefined ? examplePath.startsWith(`${route.path}/`) : new RegExp(pattern).test(examplePath);
      });
      expect([examplePath, others]).toEqual([examplePath, []]);
    }
  }
  expect(patterns.length).toBeGreaterThan(5);
});

test.each([
  ['/a/*/b', '^/a/[^/]+/b$'],
  ['/.well/*', '^/[.]well/[^/]+$'],
  ['/a', undefined],
])('the path %s as a regular expression is %s', (path, pattern) => expect(pathPattern(path)).toBe(pattern));
