import { ROUTES } from '@svc/contracts';
import { createProxyErrorResponse } from '@svc/service';
import { FrontConfig, upstreamsOf } from './config.js';
import { proxyErrorOf, wasNeverSent } from './proxy-errors.js';

const withCode = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

test.each([
  ['connection refused', withCode('ECONNREFUSED'), 503],
  ['connection refused, wrapped by the library', new Error('x', { cause: withCode('ECONNREFUSED') }), 503],
  ['connection refused on every address', new AggregateError([withCode('ECONNREFUSED')]), 503],
  ['no connection within the time', withCode('UND_ERR_CONNECT_TIMEOUT'), 503],
  ['the connection broke', withCode('UND_ERR_SOCKET'), 502],
  ['the connection was reset', withCode('ECONNRESET'), 502],
  ['no answer within the time', withCode('UND_ERR_HEADERS_TIMEOUT'), 504],
  ['no body within the time', withCode('UND_ERR_BODY_TIMEOUT'), 504],
  ['an address that cannot be sent', withCode('UND_ERR_INVALID_ARG'), 404],
  ['an address that the library cannot parse', { statusCode: 400 }, 404],
  ['a body that is too large', { statusCode: 413 }, 413],
  ['any other error', new Error('x'), 502],
])('after "%s" the error %p has a status', (_what, error, status) => expect(proxyErrorOf(error).status).toBe(status));

test('every app of the route table has an upstream to configure', () => {
  const config = Object.assign(new FrontConfig(), {
    SVC_UPSTREAM_IDENTITY: 'http://127.0.0.1:1/',
    SVC_UPSTREAM_PAYMENT_PROCESSOR: 'http://127.0.0.1:2',
    SVC_UPSTREAM_HOSTED_GATEWAY: 'http://127.0.0.1:3',
    SVC_UPSTREAM_WEBHOOK_DISPATCHER: 'http://127.0.0.1:4',
    SVC_UPSTREAM_DEMO_SHOP: 'http://127.0.0.1:5',
    SVC_UPSTREAM_CODE_DECODER: 'http://127.0.0.1:6',
    SVC_UPSTREAM_PAYMENT_HISTORY: 'http://127.0.0.1:7',
    SVC_UPSTREAM_MERCHANT_RETRIEVAL: 'http://127.0.0.1:8',
  });
  const upstreams = upstreamsOf(config);
  expect(upstreams.get('identity')).toBe('http://127.0.0.1:1');
  expect([...upstreams.keys()].sort()).toEqual([...new Set(ROUTES.map(({ app }) => app))].sort());
});

test.each(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])(
  'after %s the request was not sent, so it may be repeated',
  (code) => {
    expect(wasNeverSent(withCode(code))).toBe(true);
    expect(wasNeverSent({ errors: [null, withCode(code)] })).toBe(true);
    expect(wasNeverSent({ errors: withCode(code), code: 7, cause: code })).toBe(false);
  },
);

test.each(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', ''])(
  'after %j the request may have been sent',
  (code) => {
    expect(wasNeverSent(withCode(code))).toBe(false);
  },
);

test('the search for codes ends at depth five, also in circular causes', () => {
  const nested = (depth: number): unknown => (depth === 0 ? withCode('ECONNREFUSED') : { cause: nested(depth - 1) });
  expect([wasNeverSent(nested(4)), wasNeverSent(nested(5))]).toEqual([true, false]);
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(wasNeverSent(circle)).toBe(false);
});

it.each([
  [
    withCode('ECONNRESET'),
    'The connection to the service broke before it responded. Check the result before you repeat',
    undefined,
  ],
  [withCode('UND_ERR_HEADERS_TIMEOUT'), 'The service did not respond in time. Check the result', undefined],
  [{ statusCode: 413 }, 'The request is too large.', undefined],
])('the response to %p warns when the request may have been executed', (error, words, retryAfter) => {
  const { headers, body } = createProxyErrorResponse({ host: 'api', accept: undefined }, proxyErrorOf(error));
  expect((JSON.parse(body) as { title: string }).title).toContain(words);
  expect(headers['retry-after']).toBe(retryAfter);
});
