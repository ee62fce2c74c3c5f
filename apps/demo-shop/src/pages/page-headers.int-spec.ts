import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS } from '@svc/testing';
import { startTestShop, type TestShop } from '../../test/shop.js';

let shop: TestShop;
beforeAll(async () => {
  shop = await startTestShop();
});
afterAll(() => shop.stop());

/** The form may post to the shop, which redirects to the payment page of the gateway. */
const buildPageHeaders = () => ({
  ...SERVICE_SECURITY_HEADERS,
  'content-security-policy': `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self' ${shop.gateway.url}; base-uri 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
});

test('every page of the shop allows only files of the shop, and a form that leads to the gateway', async () => {
  const { orderPath } = await shop.createOrder();
  for (const [path, status] of [
    ['/', 200],
    [orderPath, 200],
    ['/orders/none', 404],
    ['/assets/none.js', 404],
  ] as const) {
    const response = await shop.get(path);
    expect([path, response.status, pickSecurityHeaders(response.headers)]).toEqual([path, status, buildPageHeaders()]);
  }
});

test('an asset of the shop has the headers of every service, and may be cached for five minutes', async () => {
  const [, path] = /src="(\/assets\/[^"]+)"/.exec((await shop.get('/')).text)!;
  const { status, headers } = await shop.get(path!);
  expect([status, pickSecurityHeaders(headers)]).toEqual([
    200,
    { ...SERVICE_SECURITY_HEADERS, 'cache-control': 'public, max-age=300' },
  ]);
});
