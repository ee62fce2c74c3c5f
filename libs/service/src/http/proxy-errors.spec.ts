import { appForAddress, NOT_FOUND, PAGE_WORDS, type ProxyError, writeProxyError } from './proxy-errors.js';

test.each([
  '//admin/v1/merchants',
  '/pay;/../admin',
  '/pay/../admin/v1/dead-letters/hosted-gateway',
  '/pay/%2e%2e/admin/v1/dead-letters/hosted-gateway',
  '/pay\\..\\admin',
  '/pay/%',
  '/%61dmin/v1/merchants',
  '/PAY',
  'http://gateway/pay',
  '*',
  '',
])('the address %s is routed to no app', (address) => expect(appForAddress('gateway', address, 'GET')).toBeUndefined());

test.each(['/pay', '/pay?next=../../admin', '/pay/a.b/c', '/pay/%C3%A9?x=%'])(
  'the address %s is routed to the gateway',
  (address) => expect(appForAddress('gateway', address, 'GET')).toBe('hosted-gateway'),
);

const UNAVAILABLE: ProxyError = {
  status: 503,
  code: 'service.not-ready',
  message: 'Try again in a moment.',
  retryAfterSeconds: 1,
};
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const COMMON = { 'x-request-id': uuid, 'cache-control': 'no-store' };

describe.each(['api', 'admin', 'shop'] as const)('an error response of a front for %s', (host) => {
  it('is a problem with the id of the request and a Retry-After (C5)', () => {
    const { status, headers, body } = writeProxyError(
      { host, accept: undefined, errorPages: 'https://api.example/errors' },
      UNAVAILABLE,
    );
    expect(status).toBe(503);
    const type = 'https://api.example/errors/service.not-ready';
    const link = `<${type}>; rel="help"`;
    expect(headers).toEqual({ ...COMMON, link, 'content-type': 'application/problem+json', 'retry-after': '1' });
    expect(JSON.parse(body)).toEqual({
      type,
      title: 'Try again in a moment.',
      status: 503,
      code: 'service.not-ready',
      detail: 'Try again in a moment.',
      instance: headers['x-request-id'],
      errors: [{ errorReference: '50', message: 'Try again in a moment.' }],
    });
  });

  it('has no Retry-After for an error of the client', () => {
    const { headers, body } = writeProxyError({ host, accept: 'application/json' }, NOT_FOUND);
    const type = '/errors/resource.not-found';
    const link = `<${type}>; rel="help"`;
    expect(headers).toEqual({ ...COMMON, link, 'content-type': 'application/problem+json' });
    const [title, code] = ['Nothing was found here.', 'resource.not-found'];
    expect(JSON.parse(body)).toEqual({
      ...{ type, title, status: 404, code, detail: title, instance: headers['x-request-id'] },
      errors: [{ errorReference: '40', message: title }],
    });
  });
});

it.each([
  [404, 'NotFound'],
  [413, 'BadRequest'],
  [502, 'InternalServer'],
  [503, 'InternalServer'],
  [504, 'InternalServer'],
] as const)('a %d of the gateway has the envelope for its merchants (H1)', (status, text) => {
  const { headers, body } = writeProxyError({ host: 'gateway', accept: '*/*' }, { ...UNAVAILABLE, status });
  expect(headers).toMatchObject({ ...COMMON, 'content-type': 'application/json; charset=utf-8' });
  expect(JSON.parse(body)).toEqual({ status: text, errors: [{ message: 'Try again in a moment.' }] });
});

describe('an error response for a browser', () => {
  const pageAt = (host: 'gateway' | 'shop', answer: ProxyError) =>
    writeProxyError({ host, accept: 'text/html,*/*' }, answer);

  it.each(['gateway', 'shop'] as const)('is a page without script and style at the %s', (host) => {
    for (const answer of [NOT_FOUND, UNAVAILABLE]) {
      const { status, headers, body } = pageAt(host, answer);
      expect(status).toBe(answer.status);
      expect(headers).toMatchObject({ ...COMMON, 'content-type': 'text/html; charset=utf-8' });
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(body).toMatch(/^<!doctype html><html lang="en">.*<title>[^<]+<\/title>.*<h1>[^<]+<\/h1>/);
      expect(body).not.toMatch(/<script|<style|<link/);
    }
  });

  it('has texts for the payer at the gateway, and refreshes itself while the service is unavailable', () => {
    const [away, unknown] = [UNAVAILABLE, NOT_FOUND].map((answer) => pageAt('gateway', answer).body);
    for (const words of PAGE_WORDS.unavailable) expect(away).toContain(words);
    for (const words of PAGE_WORDS.notFound) expect(unknown).toContain(words);
    expect(away).toContain('http-equiv="refresh"');
    expect(unknown).not.toContain('http-equiv="refresh"');
  });

  it('has the message of the error at other hosts, and for a request that is too large', () => {
    expect(pageAt('shop', UNAVAILABLE).body).toContain('<h1>Try again in a moment.</h1>');
    expect(pageAt('shop', UNAVAILABLE).body).not.toContain('http-equiv="refresh"');
    expect(pageAt('gateway', { ...UNAVAILABLE, status: 413 }).body).toContain('<h1>Try again in a moment.</h1>');
  });
});
