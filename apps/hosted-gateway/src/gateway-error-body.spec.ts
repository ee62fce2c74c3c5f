import { ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { gatewayErrorBody } from './gateway-error-body.js';
import { en } from './languages/en.js';
import { zu } from './languages/zu.js';
import type { PageManifest } from './page-views/pay-page-model.js';
import { BuiltManifest } from './pay/built-manifest.js';

const buildErrorBody = (error: DomainError, request: FastifyRequest) =>
  gatewayErrorBody(error, request, '/errors/a-code');
const buildRequest = (url: string, { method = 'GET', accept = 'text/html,*/*' } = {}): FastifyRequest =>
  ({ method, url, headers: { accept } }) as FastifyRequest;
const buildApiErrorBody = (error: DomainError): unknown =>
  buildErrorBody(error, buildRequest('/api/v3.1/sessions')).body;

test.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])(
  'the API response for the error %s has the status text and the message of the error (H1)',
  (code) => {
    const { httpStatus, message } = ERROR_CATALOGUE[code];
    const clientErrorStatus = { 401: 'Unauthorized', 404: 'NotFound' }[httpStatus as number] ?? 'BadRequest';
    expect(buildApiErrorBody(new DomainError(code))).toEqual({
      status: httpStatus >= 500 ? 'InternalServer' : clientErrorStatus,
      errors: [{ message }],
    });
  },
);

test('the API response contains one message for each invalid field, and no internal details (C5)', () => {
  const fields = [
    { field: 'amount', message: 'amount is missing' },
    { field: 'origin', message: 'origin is missing' },
  ];
  expect(
    buildApiErrorBody(new DomainError('request.invalid', { fields, cause: new Error('internal detail') })),
  ).toEqual({
    status: 'BadRequest',
    errors: [{ message: 'amount is missing' }, { message: 'origin is missing' }],
  });
});

describe('the error message of a pay request', () => {
  const findMessage = (code: ErrorCode, url: string, { method = 'POST', language = 'zu' } = {}): unknown => {
    const request = { method, url, headers: { 'accept-language': language } } as unknown as FastifyRequest;
    return buildErrorBody(new DomainError(code), request).body;
  };

  test.each<[url: string, language: string, code: ErrorCode, message: string]>([
    ['/pay/12/payments', 'zu', 'payable.mismatch', zu.refusals['payable.mismatch']],
    ['/pay/12/payments?lang=zu', 'en', 'payable.mismatch', zu.refusals['payable.mismatch']],
    ['/c/01234567890123456789/payments', 'en', 'payable.mismatch', en.refusals['payable.mismatch']],
    ['/c/1/invoices/2/payments?lang=zu', 'en', 'payable.mismatch', zu.refusals['payable.mismatch']],
    ['/pay/12/payments', 'zu', 'request.rate-limited', zu.formErrors.tooMany],
    ['/c/01234567890123456789/payments', 'en', 'request.rate-limited', en.formErrors.tooMany],
    ['/pay/12/payments', 'zu', 'request.invalid', zu.formErrors.refused],
    ['/pay/12/payments', 'en', 'request.invalid', ERROR_CATALOGUE['request.invalid'].message],
  ])('to %s in the language %s, for the error %s, is: %s', (url, language, code, message) => {
    expect(findMessage(code, url, { language })).toEqual({ status: 'BadRequest', errors: [{ message }] });
  });

  test.each([
    ['GET', '/pay/12/payments'],
    ['POST', '/pay/12/payments/1'],
    ['POST', '/pay/12/3/payments'],
    ['POST', '/pay/1/invoices/2/payments'],
    ['POST', '/C/1/payments'],
    ['POST', '/api/pay/12/payments'],
  ])('is not translated for another request: %s %s', (method, url) => {
    const { message } = ERROR_CATALOGUE['request.invalid'];
    expect(findMessage('request.invalid', url, { method })).toEqual({ status: 'BadRequest', errors: [{ message }] });
  });
});

describe('an error response', () => {
  const asset = { content: '', integrity: 'sha384-x' };
  beforeAll(() => {
    jest
      .spyOn(BuiltManifest, 'get')
      .mockReturnValue({ scripts: { en: asset, zu: asset }, style: asset } as unknown as PageManifest);
  });
  afterAll(() => jest.restoreAllMocks());

  const unavailable = new DomainError('service.not-ready');

  test.each(['/pay?sessionId=1', '/pay', '/pay/', '/c/01234567890123456789', '/C/1', '/c/1/invoices/2', '/'])(
    'is an HTML page if a browser requests %s',
    (url) => {
      const { contentType, body, headers } = buildErrorBody(unavailable, buildRequest(url));
      expect(contentType).toBe('text/html; charset=utf-8');
      expect(headers).toMatchObject({ 'content-security-policy': expect.stringContaining("default-src 'none'") });
      expect(body).toContain('This page is not available at the moment');
      expect(body).toContain('<meta http-equiv="refresh" content="5"/>');
      expect(buildErrorBody(new DomainError('internal'), buildRequest(url)).body).toBe(body);
      const notFoundPage = buildErrorBody(new DomainError('resource.not-found'), buildRequest(url)).body;
      expect(notFoundPage).toContain('This payment page does not exist');
      expect(notFoundPage).not.toContain('http-equiv="refresh"');
    },
  );

  test.each<[string, FastifyRequest]>([
    ['a call of the page’s script', buildRequest('/pay/1/state')],
    ['a browser at another path', buildRequest('/pay/1/2')],
    ['a call of the script of a till’s page', buildRequest('/c/1/invoices/2/state')],
    ['a browser at a path that only ends like the path of a page', buildRequest('/api/pay')],
    ['a client without an Accept header', { method: 'GET', url: '/pay', headers: {} } as FastifyRequest],
    ['a client that does not accept HTML', buildRequest('/pay', { accept: 'application/json' })],
    ['a POST request', buildRequest('/pay', { method: 'POST' })],
    ['a call of the API', buildRequest('/api/v3.1/sessions')],
  ])('is JSON if it is sent to %s', (_, request) => {
    expect(buildErrorBody(unavailable, request).contentType).toBe('application/json');
  });

  test('is JSON if the request is invalid, also for a browser', () => {
    expect(buildErrorBody(new DomainError('request.invalid'), buildRequest('/pay')).contentType).toBe(
      'application/json',
    );
  });
});

test('the administration API has the errors of all services (RFC 9457)', () => {
  const request = buildRequest('/admin/v1/looks/1001');
  const { contentType, body } = buildErrorBody(new DomainError('resource.not-found'), request);
  expect([contentType, body]).toEqual([
    'application/problem+json',
    expect.objectContaining({ code: 'resource.not-found', status: 404 }),
  ]);
  expect(buildErrorBody(new DomainError('credentials.invalid'), request).body).toBeUndefined();
});

test('a receipt that cannot be sent from a page is a page, as the form is sent without the script', () => {
  for (const path of ['/pay/1/receipts?lang=zu', '/c/1/receipts', '/c/1/invoices/2/receipts']) {
    const error = new DomainError('resource.not-found');
    expect(buildErrorBody(error, buildRequest(path, { method: 'POST' })).contentType).toBe('text/html; charset=utf-8');
    const json = buildRequest(path, { method: 'POST', accept: 'application/json' });
    expect(buildErrorBody(error, json).contentType).toBe('application/json');
    expect(buildErrorBody(error, buildRequest(path)).contentType).toBe('application/json');
  }
});
