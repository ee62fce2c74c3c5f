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
const problemBody = (error: DomainError, rejected: FastifyRequest) => problemBodyAt(error, rejected, PAGE);
const newQueryError = (code: string): QueryFailedError =>
  new QueryFailedError('SELECT secret', ['secret'], Object.assign(new Error('secret'), { code, detail: 'secret' }));

test.each([
  ['a DomainError', new DomainError('payable.paid'), 'payable.paid'],
  ['an unknown route', new NotFoundException(), 'resource.not-found'],
  ['an exception of Nest with a status', new HttpException('', 413), 'request.too-large'],
  ['an error of Fastify', Object.assign(new Error(), { statusCode: 415 }), 'request.unsupported-media-type'],
  ['an exception with a status that is not in the catalogue', new HttpException('', 418), 'internal'],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'service.not-ready'],
  ['an error because PostgreSQL shuts down', newQueryError('57P01'), 'service.not-ready'],
  ['an error because PostgreSQL crashed', newQueryError('57P02'), 'service.not-ready'],
  ['an error because PostgreSQL is starting', newQueryError('57P03'), 'service.not-ready'],
  ['a read-only server', newQueryError('25006'), 'service.not-ready'],
  ['a broken connection', newQueryError('08006'), 'service.not-ready'],
  ['a transaction that was idle for too long', newQueryError('25P03'), 'service.not-ready'],
  ['too many connections', newQueryError('53300'), 'service.not-ready'],
  ['a server whose name cannot be resolved', Object.assign(new Error(), { code: 'ENOTFOUND' }), 'service.not-ready'],
  ['a statement that is not allowed in a transaction', newQueryError('25001'), 'internal'],
  ['a statement that took too long', newQueryError('57014'), 'service.not-ready'],
  ['a deadlock', newQueryError('40P01'), 'service.not-ready'],
  ['a violated constraint', newQueryError('23505'), 'internal'],
  ['a thrown value that is not an Error', 'text', 'internal'],
  ['a thrown undefined', undefined, 'internal'],
])('toDomainError returns the expected error code for %s', (_, exception, code) => {
  expect(toDomainError(exception).code).toBe(code);
});

test('the response to a database error does not contain the text of the error', () => {
  for (const code of ['23505', '22P02', '57P01']) {
    expect(JSON.stringify(problemBody(toDomainError(newQueryError(code)), request))).not.toContain('secret');
  }
});

test.each([
  ['an event handler with a transaction', { tx: {}, connection: {} }],
  ['an idempotent event handler', { connection: {} }],
])('the consumer receives the error of %s unchanged', async (_, context) => {
  const databaseError = newQueryError('57P01');
  expect(await filterCommandError(databaseError, context)).toBe(databaseError);
});

test('the requester of a command receives service.not-ready while the database is unavailable', async () => {
  expect(await filterCommandError(newQueryError('57P01'), {})).toMatchObject({ code: 'service.not-ready' });
});

function filterCommandError(error: unknown, context: object): Promise<unknown> {
  const filter = new ErrorFilter({ error: () => undefined } as unknown as ServiceLog, {});
  const host = { getType: () => 'rpc', switchToRpc: () => ({ getContext: () => context }) } as unknown as ArgumentsHost;
  return lastValueFrom(filter.catch(error, host) as Observable<unknown>).catch((thrown: unknown) => thrown);
}

test('the body of a 401 is empty, even if the error has a message', () => {
  const error = new DomainError('credentials.invalid', { message: 'the key was revoked' });
  expect(problemBody(error, request).body).toBeUndefined();
});

test('the response contains every invalid field with its error reference', () => {
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

test.each((Object.keys(ERROR_CATALOGUE) as ErrorCode[]).filter((code) => ERROR_CATALOGUE[code].httpStatus !== 401))(
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
