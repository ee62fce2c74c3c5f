import { merchantUrlProblem, portProblemInProduction } from './merchant-url.js';

const production = { allowLoopbackHttp: false };
const development = { allowLoopbackHttp: true };

test.each(['https://shop.example/return?lang=en', 'https://shop.example:8443/', 'https://127.0.0.1/'])(
  '%s is accepted in development and production, because its IP addresses are checked at each call (E7)',
  (url) => {
    expect(merchantUrlProblem('returnUrl', url, production)).toBeUndefined();
    expect(merchantUrlProblem('returnUrl', url, development)).toBeUndefined();
  },
);

test.each([
  'http://localhost:7302/',
  'http://127.0.0.1/',
  'http://127.9.8.7:1/',
  'http://[::1]:8080/',
  'http://0x7f.1/',
])('%s is accepted only in development (H6)', (url) => {
  expect(merchantUrlProblem('returnUrl', url, development)).toBeUndefined();
  expect(merchantUrlProblem('returnUrl', url, production)).toEqual({
    field: 'returnUrl',
    message: 'returnUrl must be https',
  });
});

test('a port other than 443 and 8443 is accepted only in development', () => {
  expect(merchantUrlProblem('returnUrl', 'https://shop.example:7302/', development)).toBeUndefined();
  expect(merchantUrlProblem('returnUrl', 'https://shop.example:7302/', production)).toEqual({
    field: 'returnUrl',
    message: 'returnUrl must use port 443 or 8443',
  });
});

test.each([
  [253, true],
  [254, false],
])('a URL with a host of %d characters is accepted: %s', (length, accepted) => {
  const host = `${'a.'.repeat(126)}aa`.slice(0, length).padEnd(length, 'a');
  expect(merchantUrlProblem('returnUrl', `https://${host}/`, production)?.message).toBe(
    accepted ? undefined : 'returnUrl must not have a host of over 253 characters',
  );
});

test.each([
  '',
  'shop.example/return',
  '//shop.example/',
  'http://shop.example/',
  'http://127.0.0.1.shop.example/',
  'http://10.0.0.1/',
  'ftp://shop.example/',
  'ftp://localhost/',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://user@shop.example/',
  'https://:secret@shop.example/',
  'https://@shop.example/',
  'https:shop.example/',
  'https://shop.example\\@evil.example/',
  'https://shop.example/a\\b',
])('%j is rejected in production and in development with an error for the field', (url) => {
  for (const rules of [production, development]) {
    const problem = merchantUrlProblem('cancelUrl', url, rules);
    expect(problem).toMatchObject({ field: 'cancelUrl', message: expect.stringMatching(/^cancelUrl must /) });
  }
});

test.each([
  ['https://SHOP.example/', true],
  ['https://shop.example:8443/a', true],
  ['https://[2606:4700:0:0::1]/', true],
  ['https://shop.example.evil.example/', false],
  ['https://www.shop.example/', false],
  ['https://shop.example./', false],
])('with allowedHosts, the URL %s is accepted: %s (A8)', (url, accepted) => {
  const rules = { ...production, allowedHosts: ['shop.example', '[2606:4700::1]'] };
  expect(merchantUrlProblem('notificationUrl', url, rules)?.message).toBe(
    accepted
      ? undefined
      : 'notificationUrl must be on one of the hosts that this site may use without an API key: shop.example, [2606:4700::1]',
  );
});

test.each([
  ['https://shop.example:3000/', '3000'],
  ['https://shop.example:80/', '80'],
])('%s has the port %s, which production never calls', (url, port) => {
  expect(portProblemInProduction('notificationUrl', url)).toEqual({
    field: 'notificationUrl',
    message: `notificationUrl has the port ${port}: production sends nothing to this port. Use port 443 or 8443.`,
  });
});

test.each([
  'https://shop.example/',
  'https://shop.example:443/',
  'https://shop.example:8443/',
  'http://localhost:3000/',
  'http://127.0.0.1:3000/',
  'http://[::1]:3000/',
  'not a URL',
])('%s has no problem with its port', (url) => {
  expect(portProblemInProduction('notificationUrl', url)).toBeUndefined();
});
