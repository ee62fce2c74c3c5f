import { type Host, ROUTES } from '@svc/contracts';
import { FrontConfig, upstreamsOf } from './config.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerItself, answerTo, appForAddress, NOT_FOUND, wasNeverSent } from './own-answers.js';

const withCode = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

test.each([
  ['nobody listens', withCode('ECONNREFUSED'), 503],
  ['nobody listens, wrapped by the library', new Error('x', { cause: withCode('ECONNREFUSED') }), 503],
  ['nobody listens on any address', new AggregateError([withCode('ECONNREFUSED')]), 503],
  ['no connection within the time', withCode('UND_ERR_CONNECT_TIMEOUT'), 503],
  ['the connection broke', withCode('UND_ERR_SOCKET'), 502],
  ['the connection was reset', withCode('ECONNRESET'), 502],
  ['no answer within the time', withCode('UND_ERR_HEADERS_TIMEOUT'), 504],
  ['no body within the time', withCode('UND_ERR_BODY_TIMEOUT'), 504],
  ['an address nobody can write', withCode('UND_ERR_INVALID_ARG'), 404],
  ['an address the library would not read', { statusCode: 400 }, 404],
  ['a body that is too large', { statusCode: 413 }, 413],
  ['nothing that says more', new Error('x'), 502],
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
    SVC_UPSTREAM_MERCHANT_RETRIEVAL: 'http://127.0.0.1:8',
  });
  const upstreams = upstreamsOf(config);
  expect(upstreams.get('identity')).toBe('http://127.0.0.1:1');
  expect([...upstreams.keys()].sort()).toEqual([...new Set(ROUTES.map(({ app }) => app))].sort());
});

test.each(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])(
  'after %s nothing was sent, so the request may be repeated',
  (code) => {
    expect(wasNeverSent(withCode(code))).toBe(true);
    expect(wasNeverSent({ errors: [null, withCode(code)] })).toBe(true);
    expect(wasNeverSent({ errors: withCode(code), code: 7, cause: code })).toBe(false);
  },
);

test.each(['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', ''])('after %j it may have been', (code) => {
  expect(wasNeverSent(withCode(code))).toBe(false);
});

test('causes are looked at five deep, which ends a circle of them', () => {
  const nested = (depth: number): unknown => (depth === 0 ? withCode('ECONNREFUSED') : { cause: nested(depth - 1) });
  expect([wasNeverSent(nested(4)), wasNeverSent(nested(5))]).toEqual([true, false]);
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(wasNeverSent(circle)).toBe(false);
});

describe('an answer of the front itself', () => {
  interface Sent {
    status: number;
    headers: Record<string, string>;
    type: string;
    body: string;
  }

  function sent(host: Host, answer: Parameters<typeof answerItself>[3], accept?: string): Sent {
    const answered: Sent = { status: 0, headers: {}, type: '', body: '' };
    const reply = {
      status: (status: number) => ((answered.status = status), reply),
      header: (name: string, value: string) => ((answered.headers[name] = value), reply),
      type: (type: string) => ((answered.type = type), reply),
      send: (body: string) => ((answered.body = body), reply),
    };
    const request = { headers: accept === undefined ? {} : { accept } } as FastifyRequest;
    answerItself(host, request, reply as unknown as FastifyReply, answer);
    return answered;
  }

  const UNAVAILABLE = answerTo(withCode('ECONNREFUSED'));
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

  it('is a problem with the id of the request, and says when to come again', () => {
    const { status, headers, type, body } = sent('api', UNAVAILABLE);
    expect([status, type]).toEqual([503, 'application/problem+json']);
    expect(headers).toEqual({ 'x-request-id': uuid, 'cache-control': 'no-store', 'retry-after': '1' });
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: 'The service is being restarted. Try again in a moment.',
      status: 503,
      code: 'service.not-ready',
      instance: headers['x-request-id'],
    });
  });

  it('has no instance and no Retry-After where the caller is wrong', () => {
    for (const accept of [undefined, 'text/html']) {
      const { headers, type, body } = sent('gateway', NOT_FOUND, accept);
      expect(type).toBe('application/problem+json');
      expect(headers).toEqual({ 'x-request-id': uuid, 'cache-control': 'no-store' });
      const [title, code] = ['Nothing was found here.', 'resource.not-found'];
      expect(JSON.parse(body)).toEqual({ type: 'about:blank', title, status: 404, code });
    }
  });

  it('is a sentence for a browser', () => {
    const { type, body } = sent('gateway', UNAVAILABLE, 'text/html,*/*');
    expect([type, body]).toEqual(['text/plain', 'The service is being restarted. Try again in a moment.']);
  });

  it("is the gateway's envelope for its merchants (H1)", () => {
    const { type, body } = sent(
      'gateway',
      { status: 500 as never, code: 'internal', message: 'Broken.' },
      'application/json',
    );
    expect(type).toBe('application/json');
    expect(JSON.parse(body)).toEqual({ status: 'InternalServer', errors: [{ message: 'Broken.' }] });
    expect(sent('gateway', { status: 500 as never, code: 'internal', message: 'Broken.' }, 'text/html').type).toBe(
      'text/plain',
    );
  });

  it.each([
    [withCode('ECONNRESET'), 'The service broke off before it answered. Find out what was done before you repeat', '1'],
    [withCode('UND_ERR_HEADERS_TIMEOUT'), 'The service did not answer in time. Find out what was done', undefined],
    [{ statusCode: 413 }, 'The request is too large.', undefined],
  ])('to %p warns where the request may have been executed', (error, words, retryAfter) => {
    const { headers, body } = sent('api', answerTo(error));
    expect((JSON.parse(body) as { title: string }).title).toContain(words);
    expect(headers['retry-after']).toBe(retryAfter);
  });
});
