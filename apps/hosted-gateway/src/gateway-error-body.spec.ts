import { ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { gatewayErrorBody as errorBodyAt } from './gateway-error-body.js';
import type { PageManifest } from './page-views/pay-page-model.js';
import { BuiltManifest } from './pay/built-manifest.js';

const gatewayErrorBody = (error: DomainError, request: FastifyRequest) => errorBodyAt(error, request, '/errors/a-code');
const aRequest = (url: string, { method = 'GET', accept = 'text/html,*/*' } = {}): FastifyRequest =>
  ({ method, url, headers: { accept } }) as FastifyRequest;
const bodyOf = (error: DomainError): unknown => gatewayErrorBody(error, aRequest('/api/v3.1/sessions')).body;

test.each(Object.keys(ERROR_CATALOGUE) as ErrorCode[])('%s has the status of row H1', (code) => {
  const { httpStatus, message } = ERROR_CATALOGUE[code];
  const four = { 401: 'Unauthorized', 404: 'NotFound' }[httpStatus as number] ?? 'BadRequest';
  expect(bodyOf(new DomainError(code))).toEqual({
    status: httpStatus >= 500 ? 'InternalServer' : four,
    errors: [{ message }],
  });
});

test('every invalid field has its own message, without other details (C5)', () => {
  const fields = [
    { field: 'amount', message: 'amount is missing' },
    { field: 'origin', message: 'origin is missing' },
  ];
  expect(bodyOf(new DomainError('request.invalid', { fields, cause: new Error('inside') }))).toEqual({
    status: 'BadRequest',
    errors: [{ message: 'amount is missing' }, { message: 'origin is missing' }],
  });
});

describe('a payer whose browser requested the page', () => {
  const part = { content: '', integrity: 'sha384-x' };
  beforeAll(() => {
    jest
      .spyOn(BuiltManifest, 'get')
      .mockReturnValue({ scripts: { en: part, zu: part }, style: part } as unknown as PageManifest);
  });
  afterAll(() => jest.restoreAllMocks());

  const unavailable = new DomainError('service.not-ready');

  test.each(['/pay?sessionId=1', '/pay', '/pay/', '/c/01234567890123456789', '/'])('at %s gets an HTML page', (url) => {
    const { contentType, body, headers } = gatewayErrorBody(unavailable, aRequest(url));
    expect(contentType).toBe('text/html; charset=utf-8');
    expect(headers).toMatchObject({ 'content-security-policy': expect.stringContaining("default-src 'none'") });
    expect(body).toContain('This page is not available at the moment');
    expect(body).toContain('<meta http-equiv="refresh" content="5"/>');
    expect(gatewayErrorBody(new DomainError('internal'), aRequest(url)).body).toBe(body);
    const missing = gatewayErrorBody(new DomainError('resource.not-found'), aRequest(url)).body;
    expect(missing).toContain('This payment page does not exist');
    expect(missing).not.toContain('http-equiv="refresh"');
  });

  test.each<[string, FastifyRequest]>([
    ['a call of its script', aRequest('/pay/1/state')],
    ['what is no page', aRequest('/pay/1/2')],
    ['a program', aRequest('/pay', { accept: 'application/json' })],
    ['what is sent', aRequest('/pay', { method: 'POST' })],
    ['the API', aRequest('/api/v3.1/sessions')],
  ])('but %s gets JSON', (_, request) => {
    expect(gatewayErrorBody(unavailable, request).contentType).toBe('application/json');
  });

  test('an invalid request gets a JSON response, not a page', () => {
    expect(gatewayErrorBody(new DomainError('request.invalid'), aRequest('/pay')).contentType).toBe('application/json');
  });
});
