import { ROUTES } from '@svc/contracts';
import { createProxyErrorResponse } from '@svc/service';
import { FrontConfig, readUpstreams } from './config.js';
import { classifyProxyError, wasNeverSent } from './proxy-errors.js';

const errorWithCode = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

test.each([
  ['connection refused', errorWithCode('ECONNREFUSED'), 503],
  ['connection refused, wrapped by the library', new Error('x', { cause: errorWithCode('ECONNREFUSED') }), 503],
  ['connection refused on every address', new AggregateError([errorWithCode('ECONNREFUSED')]), 503],
  ['no connection within the timeout', errorWithCode('UND_ERR_CONNECT_TIMEOUT'), 503],
  ['the connection broke', errorWithCode('UND_ERR_SOCKET'), 502],
  ['the connection was reset', errorWithCode('ECONNRESET'), 502],
  ['no response within the timeout', errorWithCode('UND_ERR_HEADERS_TIMEOUT'), 504],
  ['no body within the timeout', errorWithCode('UND_ERR_BODY_TIMEOUT'), 504],
  ['an address that cannot be sent', errorWithCode('UND_ERR_INVALID_ARG'), 404],
  ['an address that the library cannot parse', { statusCode: 400 }, 404],
  ['a body that is too large', { statusCode: 413 }, 413],
  ['any other error', new Error('x'), 502],
])('the error "%s" (%p) is sent to the client with the status %d', (_description, error, status) =>
  expect(classifyProxyError(error).status).toBe(status),
);

test('the configuration has an upstream for every app of the route table', () => {
  const config = Object.assign(new FrontConfig(), {
    SVC_UPSTREAM_IDENTITY: 'http://127.0.0.1:1/',
    SVC_UPSTREAM_PAYMENT_PROCESSOR: 'http://127.0.0.1:2',
    SVC_UPSTREAM_HOSTED_GATEWAY: 'http://127.0.0.1:3',
    SVC_UPSTREAM_WEBHOOK_DISPATCHER: 'http://127.0.0.1:4',
    SVC_UPSTREAM_DEMO_SHOP: 'http://127.0.0.1:5',
    SVC_UPSTREAM_CODE_DECODER: 'http://127.0.0.1:6',
    SVC_UPSTREAM_PAYMENT_HISTORY: 'http://127.0.0.1:7',
    SVC_UPSTREAM_MERCHANT_RETRIEVAL: 'http://127.0.0.1:8',
    SVC_UPSTREAM_CONSOLE: 'http://127.0.0.1:9',
  });
  const upstreams = readUpstreams(config);
  expect(upstreams.get('identity')).toBe('http://127.0.0.1:1');
  expect([...upstreams.keys()].sort()).toEqual([...new Set(ROUTES.map(({ app }) => app))].sort());
});

test.each(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])(
  'after the error %s the request was not sent, so it may be retried',
  (code) => {
    expect(wasNeverSent(errorWithCode(code))).toBe(true);
    expect(wasNeverSent({ errors: [null, errorWithCode(code)] })).toBe(true);
    // `errors` must be a list, `code` must be text, and `cause` must be an error.
    expect(wasNeverSent({ errors: errorWithCode(code), code: 7, cause: code })).toBe(false);
  },
);

test.each(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', ''])(
  'after the error %j the request may have been sent',
  (code) => {
    expect(wasNeverSent(errorWithCode(code))).toBe(false);
  },
);

test('error codes are found in up to four nested causes, and the search also ends for circular causes', () => {
  const nested = (depth: number): unknown =>
    depth === 0 ? errorWithCode('ECONNREFUSED') : { cause: nested(depth - 1) };
  expect([wasNeverSent(nested(4)), wasNeverSent(nested(5))]).toEqual([true, false]);
  const circular: { cause?: unknown } = {};
  circular.cause = circular;
  expect(wasNeverSent(circular)).toBe(false);
});

test.each<[unknown, string]>([
  [
    errorWithCode('ECONNRESET'),
    'The connection to the service broke before it responded. Check the result before you repeat',
  ],
  [errorWithCode('UND_ERR_HEADERS_TIMEOUT'), 'The service did not respond in time. Check the result'],
  [{ statusCode: 413 }, 'The request is too large.'],
])('the response after the error %p has the detail "%s" and no Retry-After', (error, detail) => {
  const { headers, body } = createProxyErrorResponse({ host: 'api', accept: undefined }, classifyProxyError(error));
  expect((JSON.parse(body) as { detail: string }).detail).toContain(detail);
  expect(headers['retry-after']).toBeUndefined();
});
