/**
 * Tests the response of `/health/ready` while a transaction in another database of the server holds back the relay. The
 * relay publishes an event only after all older transactions of the server have ended.
 */
import { Module } from '@nestjs/common';
import { eventType } from '@svc/contracts';
import { EmbeddedBroker, EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
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

test('the service is ready while its relay is held back, and reports "held back" until the relay continues', async () => {
  const getReadiness = async () => {
    const { status, body } = await httpClient(running.service)('GET', '/health/ready');
    return { status, body: body as { relay?: string } };
  };
  const waitForRelayState = (state: string | undefined): Promise<boolean> =>
    waitUntil(`the relay to be ${state}`, 10_000, async () => (await getReadiness()).body.relay === state);
  expect(await getReadiness()).toEqual({ status: 200, body: { status: 'ok' } });
  await using olderTransaction = await openOlderTransaction();
  const events = running.service.app.get(EventLog);
  const event = { type: ThingHappenedV1, aggregateId: 'a', aggregateVersion: 1, payload: {} };
  await inTransaction(running.dataSource, (tx) => events.append(tx, event));
  await waitForRelayState('held back');
  expect(await getReadiness()).toEqual({ status: 200, body: { status: 'ok', relay: 'held back' } });
  await olderTransaction.end();
  await waitForRelayState(undefined);
  expect(await getReadiness()).toEqual({ status: 200, body: { status: 'ok' } });
});
