import {
  appForAddress,
  createNotFoundError,
  createProxyErrorResponse,
  NOT_FOUND,
  PAGE_TEXTS,
  type ProxyError,
} from './proxy-errors.js';

// The host shop has a route for every path, so only the check of the path itself refuses these paths.
test.each([
  '//admin/v1/merchants',
  '//shop//admin',
  '///shop/admin',
  '/\\shop/admin',
  '/\\[',
  '/pay;/../admin',
  '/pay/../admin/v1/dead-letters/hosted-gateway',
  '/pay/%2e%2e/admin/v1/dead-letters/hosted-gateway',
  '/pay\\..\\admin',
  '/pay/%',
  '/pay/ ',
  'http://gateway/pay',
  'data:/pay',
  'pay',
  '*',
  '?a',
  '',
])('the path %j is routed to no app of any host', (address) => {
  for (const host of ['gateway', 'shop'] as const) expect(appForAddress(host, address, 'GET')).toBeUndefined();
});

test.each(['/%61dmin/v1/merchants', '/PAY'])('the path %s is routed to no app of the host gateway', (address) =>
  expect(appForAddress('gateway', address, 'GET')).toBeUndefined(),
);

test.each(['/pay', '/pay?next=../../admin', '/pay/a.b/c', '/pay/%C3%A9?x=%'])(
  'the path %s is routed to hosted-gateway',
  (address) => expect(appForAddress('gateway', address, 'GET')).toBe('hosted-gateway'),
);

const UNAVAILABLE: ProxyError = {
  status: 503,
  code: 'service.not-ready',
  message: 'Try again in a moment.',
  retryAfterSeconds: 1,
};
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const COMMON = { 'x-request-id': uuid, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

describe.each(['api', 'admin', 'shop'] as const)('an error response of a reverse proxy for the host %s', (host) => {
  it('has a problem body (C5) with the request id, and a Retry-After header if a retry may succeed', () => {
    const { status, headers, body } = createProxyErrorResponse(
      { host, accept: undefined, errorPages: 'https://api.example/errors' },
      UNAVAILABLE,
    );
    expect(status).toBe(503);
    const type = 'https://api.example/errors/service.not-ready';
    const link = `<${type}>; rel="help"`;
    expect(headers).toEqual({
      ...COMMON,
      'x-error-code': 'service.not-ready',
      link,
      'content-type': 'application/problem+json',
      'retry-after': '1',
    });
    expect(JSON.parse(body)).toEqual({
      type,
      title: 'Not ready yet. Try again in a moment.',
      status: 503,
      code: 'service.not-ready',
      detail: 'Try again in a moment.',
      instance: headers['x-request-id'],
      errors: [{ errorReference: '50', message: 'Try again in a moment.' }],
    });
  });

  it('has no Retry-After header for an error of the client', () => {
    const { headers, body } = createProxyErrorResponse({ host, accept: 'application/json' }, NOT_FOUND);
    const type = '/errors/resource.not-found';
    const link = `<${type}>; rel="help"`;
    expect(headers).toEqual({
      ...COMMON,
      'x-error-code': 'resource.not-found',
      link,
      'content-type': 'application/problem+json',
    });
    const [title, code] = ['Nothing was found here.', 'resource.not-found'];
    expect(JSON.parse(body)).toEqual({
      ...{ type, title, status: 404, code, detail: title, instance: headers['x-request-id'] },
      errors: [{ errorReference: '40', message: title }],
    });
  });
});

it.each([
  [404, 'NotFound'],
  [405, 'BadRequest'],
  [413, 'BadRequest'],
  [502, 'InternalServer'],
  [503, 'InternalServer'],
  [504, 'InternalServer'],
] as const)(
  'the body of a %d from the host gateway is the envelope that merchants expect (H1), with the status %s',
  (status, text) => {
    const { headers, body } = createProxyErrorResponse({ host: 'gateway', accept: '*/*' }, { ...UNAVAILABLE, status });
    expect(headers).toEqual({
      ...COMMON,
      'content-type': 'application/json; charset=utf-8',
      'x-error-code': 'service.not-ready',
      link: expect.any(String) as string,
      'retry-after': '1',
    });
    expect(JSON.parse(body)).toEqual({ status: text, errors: [{ message: 'Try again in a moment.' }] });
  },
);

describe('an error response for a browser', () => {
  const writePage = (host: 'gateway' | 'shop', error: ProxyError) =>
    createProxyErrorResponse({ host, accept: 'text/html,*/*' }, error);

  it.each(['gateway', 'shop'] as const)('is a page without scripts and styles on the host %s', (host) => {
    for (const error of [NOT_FOUND, UNAVAILABLE]) {
      const { status, headers, body } = writePage(host, error);
      expect(status).toBe(error.status);
      expect(headers).toEqual({
        ...COMMON,
        'content-type': 'text/html; charset=utf-8',
        'x-error-code': error.code,
        link: expect.any(String) as string,
        ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': '1' }),
        'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        'referrer-policy': 'no-referrer',
      });
      expect(body).toMatch(/^<!doctype html><html lang="en">.*<title>[^<]+<\/title>.*<h1>[^<]+<\/h1>/);
      expect(body).not.toMatch(/<script|<style|<link/);
      // A browser in dark mode renders the page dark.
      expect(body).toContain('<meta name="color-scheme" content="light dark">');
    }
  });

  it('contains texts for the payer on the host gateway, and a refresh if the service is unavailable', () => {
    const [unavailablePage, notFoundPage] = [UNAVAILABLE, NOT_FOUND].map((error) => writePage('gateway', error).body);
    for (const [page, [heading, ...notes]] of [
      [unavailablePage, PAGE_TEXTS.unavailable],
      [notFoundPage, PAGE_TEXTS.notFound],
    ] as const) {
      // The title repeats the heading.
      expect(page!.replaceAll(/<[^>]*>/g, '')).toBe([heading, heading, ...notes].join(''));
      for (const note of notes) expect(page).toContain(`<p>${note}</p>`);
    }
    expect(unavailablePage).toContain('http-equiv="refresh"');
    expect(notFoundPage).not.toContain('http-equiv="refresh"');
  });

  it('contains the message of the error on other hosts, and for a request that is too large', () => {
    expect(writePage('shop', UNAVAILABLE).body).toContain('<h1>Try again in a moment.</h1>');
    expect(writePage('shop', UNAVAILABLE).body).not.toContain('http-equiv="refresh"');
    for (const status of [405, 413] as const)
      expect(writePage('gateway', { ...UNAVAILABLE, status }).body).toContain('<h1>Try again in a moment.</h1>');
  });

  it('never contains markup of the path, also if the path is not percent-encoded', () => {
    const address = `/<script>"x"'y'\`z\`</script>`;
    const { body } = createProxyErrorResponse(
      { host: 'api', accept: 'text/html' },
      createNotFoundError({ host: 'api', method: 'GET', address }),
    );
    expect(body).toContain('<h1>The main API has no path /%3Cscript%3E%22x%22%27y%27%60z%60%3C/script%3E.</h1>');
  });
});

test('the error for a wrong method has the status 405 and the header Allow', () => {
  const error = createNotFoundError({ host: 'gateway', method: 'PUT', address: '/api/v3.1/sessions?a=1' });
  const { status, headers, body } = createProxyErrorResponse({ host: 'gateway', accept: undefined }, error);
  expect([status, headers]).toEqual([
    405,
    {
      ...COMMON,
      'content-type': 'application/json; charset=utf-8',
      'x-error-code': 'request.method-not-allowed',
      link: '</errors/request.method-not-allowed>; rel="help"',
      allow: 'POST',
    },
  ]);
  expect(JSON.parse(body)).toEqual({
    status: 'BadRequest',
    errors: [{ message: '/api/v3.1/sessions has no method PUT. Its methods are: POST.' }],
  });
});
