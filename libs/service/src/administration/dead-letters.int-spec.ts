import { Controller, Module } from '@nestjs/common';
import { ADMIN_KEY, AuditTrail, OperatorKeys1763500000040, OperatorKeysModule } from '@svc/auth';
import { type EventEnvelope, eventType } from '@svc/contracts';
import { type BrokerDeadLetters, DeadLetters, EventPattern } from '@svc/messaging';
import { anEvent, httpClient, startTestService, type TestService } from '@svc/testing';
import { ServiceConfig } from '../configuration/config.js';
import type { ServiceDefinition } from '../service.js';
import { createBrokerDeadLettersController, createDeadLettersController } from './dead-letters.controller.js';

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const ADMIN_TEST_KEY = 'an administration key for tests 1';
const handled: string[] = [];
const audited: unknown[] = [];
let isRepaired = false;

@Controller()
class ThingsConsumer {
  @EventPattern(ThingHappenedV1)
  record(events: EventEnvelope<{ text: string }>[]): Promise<void> {
    if (!isRepaired) return Promise.reject(new Error('broken'));
    handled.push(...events.map(({ payload }) => payload.text));
    return Promise.resolve();
  }
}

@Module({
  imports: [OperatorKeysModule],
  controllers: [ThingsConsumer, createBrokerDeadLettersController('things'), createDeadLettersController('things')],
  providers: [
    { provide: ADMIN_KEY, useValue: { key: ADMIN_TEST_KEY } },
    {
      provide: AuditTrail,
      useValue: { append: (_: unknown, __: unknown, action: unknown) => Promise.resolve(audited.push(action)) },
    },
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

test('administrators see the dead letters, and replay them after the cause is fixed', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY });
  const event = anEvent(ThingHappenedV1, 'thing 1', 1, { text: 'private' });
  await running.deliver(event);

  const { status, body } = await admin('GET', '/admin/v1/dead-letters/things');
  expect(status).toBe(200);
  expect(body).toEqual({
    deadLetters: [
      {
        messageId: event.id,
        type: 'thing.happened.v1',
        aggregateId: 'thing 1',
        error: 'Error: broken',
        deliveries: 5,
        failedAt: '2026-03-01T10:00:00.000Z',
      },
    ],
    after: null,
  });

  const replay = `/admin/v1/dead-letters/things/${event.id}/replay`;
  expect((await admin('POST', replay)).status).toBe(500);
  expect((await admin('GET', '/admin/v1/dead-letters/things')).body).toEqual(body);
  isRepaired = true;
  expect((await admin('POST', replay)).status).toBe(204);
  expect(handled).toEqual(['private']);
  expect(audited).toEqual([
    { action: 'dead-letter.replayed', after: { messageId: event.id, type: 'thing.happened.v1' } },
  ]);
  expect((await admin('POST', replay)).status).toBe(404);
  expect((await admin('POST', '/admin/v1/dead-letters/things/nonsense/replay')).status).toBe(404);
  expect((await admin('GET', '/admin/v1/dead-letters/things')).body).toEqual({
    deadLetters: [],
    after: null,
  });
});

test('administrators can replay all dead letters, or all dead letters of one type, with one request', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY });
  const bulk = '/admin/v1/dead-letters/things/replays';
  audited.length = 0;
  isRepaired = false;
  await running.deliver(...['one', 'two'].map((text) => anEvent(ThingHappenedV1, text, 1, { text })));
  expect(await admin('POST', bulk)).toMatchObject({ status: 200, body: { replayed: 0, failed: 2, after: null } });
  isRepaired = true;
  const nothingReplayed = { replayed: 0, failed: 0, after: null };
  expect((await admin('POST', `${bulk}?type=other.v1`)).body).toEqual(nothingReplayed);
  expect((await admin('POST', `${bulk}?type=thing.happened.v1`)).body).toEqual({ ...nothingReplayed, replayed: 2 });
  expect(handled.slice(-2).sort()).toEqual(['one', 'two']);
  expect(audited).toEqual([
    {
      action: 'dead-letters.replayed',
      after: { from: 'table', type: 'thing.happened.v1', firstMessageId: expect.any(String) },
    },
  ]);
  for (const invalidQuery of ['after=nonsense', 'after=a&after=b', 'type=%00', 'type=a&type=b'])
    expect((await admin('GET', `/admin/v1/dead-letters/things?${invalidQuery}`)).status).toBe(400);
});

test('without RabbitMQ, the number of dead letters in RabbitMQ is 0', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY });
  const broker = '/admin/v1/dead-letters/things/broker';
  expect(await admin('GET', broker)).toMatchObject({ status: 200, body: { count: 0, countMax: 0, oldest: null } });
  expect(await admin('POST', `${broker}/replays`)).toMatchObject({ status: 200, body: { replayed: 0, refused: 0 } });
});

test('administrators see the dead letters of RabbitMQ, and replay them', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY });
  const oldest = { messageId: 'm', type: 'a.v1', reason: 'delivery_limit', deadLetteredAt: new Date(0) };
  const inBroker: BrokerDeadLetters = {
    count: () => Promise.resolve(2),
    summary: () => Promise.resolve({ count: 2, countMax: 9, oldest }),
    replay: () => Promise.resolve({ replayed: 1, refused: 1 }),
  };
  Object.assign(running.service.app.get(DeadLetters), { inBroker });
  const broker = '/admin/v1/dead-letters/things/broker';
  expect((await admin('GET', broker)).body).toEqual({
    count: 2,
    countMax: 9,
    oldest: { ...oldest, deadLetteredAt: '1970-01-01T00:00:00.000Z' },
  });
  expect((await admin('POST', `${broker}/replays`)).body).toEqual({ replayed: 1, refused: 1 });
});

test.each<Record<string, string>>([{}, { 'x-admin-key': 'another administration key here' }])(
  'requests with the headers %j, which do not contain the correct administration key, get a 401',
  async (headers) => {
    const unauthorised = httpClient(running.service, headers);
    expect((await unauthorised('GET', '/admin/v1/dead-letters/things')).status).toBe(401);
    expect((await unauthorised('POST', '/admin/v1/dead-letters/things/nonsense/replay')).status).toBe(401);
    expect((await unauthorised('POST', '/admin/v1/dead-letters/things/replays')).status).toBe(401);
    expect((await unauthorised('GET', '/admin/v1/dead-letters/things/broker')).status).toBe(401);
    expect((await unauthorised('POST', '/admin/v1/dead-letters/things/broker/replays')).status).toBe(401);
  },
);

test('administrators can drop a dead letter, once', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': ADMIN_TEST_KEY });
  audited.length = 0;
  isRepaired = false;
  const [dropped, kept] = ['dropped', 'kept'].map((text) => anEvent(ThingHappenedV1, text, 1, { text }));
  await running.deliver(dropped!, kept!);
  const path = `/admin/v1/dead-letters/things/${dropped!.id}`;
  expect((await admin('DELETE', path)).status).toBe(204);
  expect(audited).toEqual([
    { action: 'dead-letter.dropped', after: { messageId: dropped!.id, type: 'thing.happened.v1' } },
  ]);
  expect((await admin('DELETE', path)).status).toBe(404);
  expect((await admin('DELETE', '/admin/v1/dead-letters/things/nonsense')).status).toBe(404);
  const { deadLetters } = (await admin('GET', '/admin/v1/dead-letters/things')).body as {
    deadLetters: { messageId: string }[];
  };
  expect(deadLetters.map(({ messageId }) => messageId)).toEqual([kept!.id]);
});
