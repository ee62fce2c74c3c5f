import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, SiteChangedV1 } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { migrateService, type RunningService, ServiceConfig, type ServiceDefinition, startService } from '@svc/service';
import { newTestDatabase, PrivateRabbitMq, type TestDatabase, waitUntil } from '@svc/testing';
import { DataSource } from 'typeorm';
import { ADMIN_KEY, CODES_URL } from '../test/decoder.js';
import { codeDecoderService } from './index.js';

// Over RabbitMQ, as services run in processes of their own.

jest.setTimeout(60_000);

@Module({})
class IdentityModule {}

/** Stands in for identity: it only says what happened. */
const identity: ServiceDefinition = { name: 'identity', config: ServiceConfig, module: IdentityModule, migrations: [] };

let server: PrivateRabbitMq;
const databases: TestDatabase[] = [];
const running = new Set<RunningService>();

beforeAll(async () => (server = await PrivateRabbitMq.start()), 90_000);
afterAll(async () => {
  for (const service of running) await service.close();
  for (const database of databases) await database.drop();
  await server.stop();
});

async function environment(definition: { name: string }, more: Record<string, string> = {}) {
  const database = await newTestDatabase();
  databases.push(database);
  const env = {
    SVC_ENVIRONMENT: 'development',
    SVC_LOG_LEVEL: 'silent',
    SVC_DATABASE_URL: database.url,
    SVC_AMQP_URL: server.url,
    ...more,
  };
  await migrateService(definition as ServiceDefinition, env);
  return env;
}

async function start(definition: { name: string }, env: Record<string, string>): Promise<RunningService> {
  const service = await startService(definition as ServiceDefinition, { env });
  running.add(service);
  await service.startRelaying();
  return service;
}

async function stop(service: RunningService): Promise<void> {
  running.delete(service);
  await service.close();
}

const statusOf = async (service: RunningService, method: 'GET' | 'PUT', url: string, headers = {}) =>
  (await service.app.inject({ method, url, headers })).statusCode;

test('on a database of its own it is ready only when it knows every site and key there was, and stays so', async () => {
  const keys = Array.from({ length: 400 }, () => newApiKey('site', 'test'));
  const identityEnv = await environment(identity);
  const before = await start(identity, identityEnv);
  const events = before.app.get(EventLog);
  await before.app.get(DataSource).transaction(async (tx) => {
    for (const [index, key] of keys.entries()) {
      const [merchantId, siteId, keyId] = [1001, 5001 + index, randomUUID()];
      await events.append(
        tx,
        {
          type: SiteChangedV1,
          aggregateId: String(siteId),
          aggregateVersion: 1,
          payload: {
            merchantId,
            siteId,
            merchantName: 'Karoo Books',
            siteReference: `S${index}`,
            name: 'Shop',
            requireApiKey: true,
            allowedHosts: [],
            keylessMode: 'test',
          },
        },
        {
          type: ApiKeyChangedV1,
          aggregateId: keyId,
          aggregateVersion: 1,
          payload: { keyId, kind: 'site', mode: 'test', merchantId, siteId, hash: hashApiKey(key), revoked: false },
        },
      );
    }
  });
  const tillOf = (index: number) => `/business/api/v1/merchants/1001/sites/${5001 + index}/tills/T/code`;
  const asks = (service: RunningService, index: number) =>
    statusOf(service, 'PUT', tillOf(index), { 'x-api-key': keys[index]! });

  // One that was there from the beginning hears of them as they happen.
  const settings = { SVC_CODES_URL: CODES_URL, SVC_ADMIN_KEY: ADMIN_KEY };
  const first = await start(codeDecoderService, await environment(codeDecoderService, settings));
  await waitUntil('the first to be ready', 20_000, async () => (await statusOf(first, 'GET', '/health/ready')) === 200);
  expect(await asks(first, 399)).toBe(201);

  await stop(before);
  const lateEnv = await environment(codeDecoderService, settings);
  const late = await start({ ...codeDecoderService, name: 'code-decoder-anew' }, lateEnv);
  expect(await statusOf(late, 'GET', '/health/ready')).toBe(503);
  expect(await asks(late, 0)).toBe(401);

  await start(identity, identityEnv);
  await waitUntil(
    'the late one to be ready',
    20_000,
    async () => (await statusOf(late, 'GET', '/health/ready')) === 200,
  );
  expect(await Promise.all([0, 200, 399].map((index) => asks(late, index)))).toEqual([201, 201, 201]);

  // Started again while identity is away, it is ready at once: what it knows is in its own tables.
  await stop([...running].find(({ name }) => name === 'identity')!);
  await stop(late);
  const again = await start({ ...codeDecoderService, name: 'code-decoder-anew' }, lateEnv);
  expect(await statusOf(again, 'GET', '/health/ready')).toBe(200);
  expect(await asks(again, 399)).toBe(200);
});
