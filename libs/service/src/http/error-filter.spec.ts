import { type ArgumentsHost, HttpException, NotFoundException } from '@nestjs/common';
import { ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable } from 'rxjs';
import { QueryFailedError } from 'typeorm';
import type { ServiceLog } from '../logging.js';
import { ErrorFilter, problemBody as problemBodyAt, toDomainError } from './error-filter.js';

const PAGE = 'https://api.example/errors/a-code';
const request = { id: 'a-request' } as FastifyRequest;
const problemBody = (error: DomainError, of: FastifyRequest) => problemBodyAt(error, of, PAGE);
const sql = (code: string): QueryFailedError =>
  new QueryFailedError('SELECT secret', ['secret'], Object.assign(new Error('secret'), { code, detail: 'secret' }));

test.each([
  ['a DomainError', new DomainError('payable.paid'), 'payable.paid'],
  ['a route that is not there', new NotFoundException(), 'resource.not-found'],
  ['a status of the framework', new HttpException('', 413), 'request.too-large'],
  ['an error of Fastify', Object.assign(new Error(), { statusCode: 415 }), 'request.unsupported-media-type'],
  ['a status the catalogue has no word for', new HttpException('', 418), 'internal'],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'service.not-ready'],
  ['a shutdown of PostgreSQL', sql('57P01'), 'service.not-ready'],
  ['a crash of PostgreSQL', sql('57P02'), 'service.not-ready'],
  ['a start of PostgreSQL', sql('57P03'), 'service.not-ready'],
  ['a server that only reads', sql('25006'), 'service.not-ready'],
  ['a broken connection', sql('08006'), 'service.not-ready'],
  ['a transaction that was idle for too long', sql('25P03'), 'service.not-ready'],
  ['too many connections', sql('53300'), 'service.not-ready'],
  ['a server whose name is not known', Object.assign(new Error(), { code: 'ENOTFOUND' }), 'service.not-ready'],
  ['another misuse of a transaction', sql('25001'), 'internal'],
  ['a statement that took too long', sql('57014'), 'service.not-ready'],
  ['a deadlock', sql('40P01'), 'service.not-ready'],
  ['a broken constraint', sql('23505'), 'internal'],
  ['something thrown that is no error', 'text', 'internal'],
  ['nothing', undefined, 'internal'],
])('%s is reported with its error code', (_, exception, code) => {
  expect(toDomainError(exception).code).toBe(code);
});

test('the response to a database error never contains the text of the error', () => {
  for (const code of ['23505', '22P02', '57P01']) {
    expect(JSON.stringify(problemBody(toDomainError(sql(code)), request))).not.toContain('secret');
  }
});

test.each([
  ['a handler with a transaction', { tx: {}, connection: {} }],
  ['a repeatable handler', { connection: {} }],
])('the error of an event handler reaches the consumer unchanged: %s', async (_, context) => {
  const lost = sql('57P01');
  expect(await rpcError(lost, context)).toBe(lost);
});

test('the sender of a command gets a retryable error while the database is unavailable', async () => {
  expect(await rpcError(sql('57P01'), {})).toMatchObject({ code: 'service.not-ready' });
});

function rpcError(error: unknown, context: object): Promise<unknown> {
  const filter = new ErrorFilter({ error: () => undefined } as unknown as ServiceLog, {});
  const host = { getType: () => 'rpc', switchToRpc: () => ({ getContext: () => context }) } as unknown as ArgumentsHost;
  return lastValueFrom(filter.catch(error, host) as Observable<unknown>).catch((thrown: unknown) => thrown);
}

test('every 401 has an empty body, whatever the reason', () => {
  const error = new DomainError('credentials.invalid', { message: 'the key was revoked' });
  expect(problemBody(error, request).body).toBeUndefined();
});

test('the response names every invalid field, under the reference of its error', () => {
  const fields = [
    { field: 'amount', message: 'amount must be positive' },
    { field: 'customFields[0].key', message: 'customFields[0].key is too long' },
  ];
  expect(problemBody(new DomainError('request.invalid', { fields }), request)).toEqual({
    contentType: 'application/problem+json',
    body: {
      type: PAGE,
      title: ERROR_CATALOGUE['request.invalid'].message,
      status: 400,
      code: 'request.invalid',
      detail: ERROR_CATALOGUE['request.invalid'].message,
      instance: 'a-request',
      errors: fields.map((field) => ({ errorReference: '40', ...field })),
    },
  });
});

test.each(Object.keys(ERROR_CATALOGUE).filter((code) => code !== 'credentials.invalid') as ErrorCode[])(
  'the problem body of %s has the values of the catalogue',
  (code) => {
    const { httpStatus, errorReference, message } = ERROR_CATALOGUE[code];
    expect(problemBody(new DomainError(code), request).body).toMatchObject({
      status: httpStatus,
      code,
      errors: [{ errorReference, message }],
    });
  },
);
