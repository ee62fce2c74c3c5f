import { ROUTES } from '@svc/contracts';
import { FrontConfig, upstreamsOf } from './config.js';
import { answerTo, appForAddress } from './own-answers.js';

const withCode = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

test.each([
  ['nobody listens', withCode('ECONNREFUSED'), 503],
  ['nobody listens, wrapped by the library', new Error('x', { cause: withCode('ECONNREFUSED') }), 503],
  ['nobody listens on any address', new AggregateError([withCode('ECONNREFUSED')]), 503],
  ['no connection within the time', withCode('UND_ERR_CONNECT_TIMEOUT'), 503],
  ['the connection broke', withCode('UND_ERR_SOCKET'), 502],
  ['the connection was reset', withCode('ECONNRESET'), 502],
  ['no answer within the time', withCode('UND_ERR_HEADERS_TIMEOUT'), 504],
  ['an address nobody can write', withCode('UND_ERR_INVALID_ARG'), 404],
])('%s: %p is answered', (_what, error, status) => expect(answerTo(error).status).toBe(status));

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
])('%s is nobody’s address', (address) => expect(appForAddress('gateway', address, 'GET')).toBeUndefined());

test.each(['/pay', '/pay?next=../../admin', '/pay/a.b/c', '/pay/%C3%A9?x=%'])('%s is the gateway’s', (address) =>
  expect(appForAddress('gateway', address, 'GET')).toBe('hosted-gateway'),
);

test('every app of the route table has an upstream to configure', () => {
  const config = Object.assign(new FrontConfig(), {
    SVC_UPSTREAM_IDENTITY: 'http://127.0.0.1:1/',
    SVC_UPSTREAM_PAYMENT_PROCESSOR: 'http://127.0.0.1:2',
    SVC_UPSTREAM_HOSTED_GATEWAY: 'http://127.0.0.1:3',
    SVC_UPSTREAM_WEBHOOK_DISPATCHER: 'http://127.0.0.1:4',
    SVC_UPSTREAM_DEMO_SHOP: 'http://127.0.0.1:5',
    SVC_UPSTREAM_CODE_DECODER: 'http://127.0.0.1:6',
    SVC_UPSTREAM_PAYMENT_HISTORY: 'http://127.0.0.1:7',
  });
  const upstreams = upstreamsOf(config);
  expect(upstreams.get('identity')).toBe('http://127.0.0.1:1');
  expect([...upstreams.keys()].sort()).toEqual([...new Set(ROUTES.map(({ app }) => app))].sort());
});
