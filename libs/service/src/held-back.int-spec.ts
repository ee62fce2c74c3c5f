/** What `/health/ready` says while a transaction in another database of the server holds back the relay. */
import { isDeepStrictEqual } from 'node:util';
import { Module } from '@nestjs/common';
import { eventType } from '@svc/contracts';
import { EmbeddedBroker, EventLog } from '@svc/messaging';
import { httpClient, openOlderTransaction, startTestService, type TestService, waitUntil } from '@svc/testing';
import { ServiceConfig, type ServiceDefinition } from './index.js';

const ThingHappenedV1 = eventType<object>('thing.happened.v1');

@Module({})
class ThingsModule {}

const things: ServiceDefinition = { name: 'things', config: ServiceConfig, module: ThingsModule, migrations: [] };
let running: TestService;

beforeAll(async () => {
  const broker = new EmbeddedBroker();
  const types = new Set([ThingHappenedV1.name]);
  await broker.subscribe({ name: 'consumer', types, deliver: () => Promise.resolve() });
  running = await startTestService(things, { broker });
  await running.service.startRelaying();
});
afterAll(() => running.stop());

test('it is ready, and says that the relay is held back until it is not', async () => {
  const ready = async (): Promise<unknown> => {
    const { status, body } = await httpClient(running.service)('GET', '/health/ready');
    return { status, body };
  };
  const isNow = (expected: object): Promise<boolean> =>
    waitUntil(JSON.stringify(expected), 10_000, async () => isDeepStrictEqual(await ready(), expected));
  await isNow({ status: 200, body: { status: 'ok' } });
  const older = await openOlderTransaction();
  try {
    const events = running.service.app.get(EventLog);
    const event = { type: ThingHappenedV1, aggregateId: 'a', aggregateVersion: 1, payload: {} };
    await running.dataSource.transaction((tx) => events.append(tx, event));
    await isNow({ status: 200, body: { status: 'ok', relay: 'held back' } });
  } finally {
    await older.end();
  }
  await isNow({ status: 200, body: { status: 'ok' } });
}, 30_000);
