/** Requests of operators in the console, as commands, and the state of a service. */
import { Body, Controller, Get, Module, Post, UseGuards } from '@nestjs/common';
import {
  ADMIN_KEY,
  AdminKeyGuard,
  AuditTrail,
  Author,
  type ChangeAuthor,
  OperatorKeys1763500000040,
  OperatorKeysModule,
} from '@svc/auth';
import { AdministerPaymentHistoryV1, type AdministrationRequest, type AdministrationResponse } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { httpClient, startTestService, type TestService } from '@svc/testing';
import { ServiceConfig } from '../configuration/config.js';
import type { ServiceDefinition } from '../service.js';
import { administrationControllers } from './administration-controllers.js';

const ADMIN_TEST_KEY = 'an administration key for tests 1';
const OPERATOR = { personId: '019ca8d7-2d00-76fa-a435-7649921434cf', mayChange: true };
const changes: unknown[] = [];

@Controller('admin/v1/things')
@UseGuards(AdminKeyGuard)
class ThingsController {
  @Get()
  list(): { things: string[] } {
    return { things: ['one'] };
  }

  @Post()
  create(@Author() author: ChangeAuthor, @Body() body: unknown): { created: true } {
    changes.push({ author, body });
    return { created: true };
  }
}

@Module({
  imports: [OperatorKeysModule],
  controllers: [ThingsController, ...administrationControllers('payment-history')],
  providers: [
    { provide: ADMIN_KEY, useValue: { key: ADMIN_TEST_KEY } },
    { provide: AuditTrail, useValue: { append: () => Promise.resolve() } },
  ],
})
class ThingsModule {}

const things: ServiceDefinition = {
  name: 'things',
  config: ServiceConfig,
  module: ThingsModule,
  migrations: [OperatorKeys1763500000040],
};

let running: TestService;
beforeAll(async () => {
  running = await startTestService(things);
});
afterAll(() => running.stop());
beforeEach(() => changes.splice(0));

const send = (request: Partial<AdministrationRequest>): Promise<AdministrationResponse> =>
  running.service.app.get(Commands).request(AdministerPaymentHistoryV1, {
    operator: OPERATOR,
    requestId: '019ca8d7-2d00-76fa-a435-7649921434c0',
    method: 'GET',
    path: '/things',
    ...request,
  });

test('an operator reads and changes something as with the administration API, and is the author of the change', async () => {
  expect(await send({})).toEqual({ statusCode: 200, body: '{"things":["one"]}' });
  expect(await send({ method: 'POST', body: '{"name":"two"}' })).toEqual({ statusCode: 201, body: '{"created":true}' });
  expect(changes).toEqual([
    {
      author: { actor: `operator:${OPERATOR.personId}`, requestId: '019ca8d7-2d00-76fa-a435-7649921434c0' },
      body: { name: 'two' },
    },
  ]);
});

test('an operator who may only read changes nothing', async () => {
  const operator = { ...OPERATOR, mayChange: false };
  expect((await send({ operator })).statusCode).toBe(200);
  expect((await send({ operator, method: 'POST', body: '{}' })).statusCode).toBe(403);
  expect(changes).toEqual([]);
});

test('an unknown route is answered with its status', async () => {
  expect((await send({ path: '/nothing' })).statusCode).toBe(404);
});

test.each(['', 'things', '//other.example/things', '/../../health/live', '/things\r\nx: y', `/${'x'.repeat(2_000)}`])(
  'the path %j is refused',
  async (path) => {
    await expect(send({ path })).rejects.toThrow(DomainError);
  },
);

test('a body of more than 100 000 characters is refused', async () => {
  await expect(send({ method: 'POST', body: `"${'x'.repeat(100_000)}"` })).rejects.toThrow(DomainError);
  expect(changes).toEqual([]);
});

test('a request from outside cannot claim to be that of an operator', async () => {
  for (const header of ['', ` ${OPERATOR.personId} change x`, `secret ${OPERATOR.personId} change x`]) {
    const client = httpClient(running.service, { 'x-console-operator': header });
    expect((await client('GET', '/admin/v1/things')).status).toBe(401);
  }
});

test('the state of a service has its version, its lag and its dead letters', async () => {
  const path = '/admin/v1/status/payment-history';
  expect((await httpClient(running.service)('GET', path)).status).toBe(401);
  const { body } = await httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY })('GET', path);
  expect(body).toEqual({
    service: 'payment-history',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    startedUTCDate: '2026-03-01T10:00:00.000Z',
    relayAgeSeconds: 0,
    deadLetters: 0,
    deferred: 0,
    broker: 'none',
  });
});
