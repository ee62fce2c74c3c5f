import { Controller, Module } from '@nestjs/common';
import { type EventEnvelope, eventType } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { ServiceConfig, type ServiceDefinition } from '@svc/service';
import { anEvent, httpClient, startTestService, type TestService } from '@svc/testing';
import { ADMIN_KEY } from './admin-key.guard.js';
import { deadLettersOf } from './dead-letters.controller.js';

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const KEY = 'an administration key for tests 1';
const handled: string[] = [];
let mended = false;

@Controller()
class ThingsConsumer {
  /** Replay: of no consequence in this test. */
  @EventPattern(ThingHappenedV1)
  record(events: EventEnvelope<{ text: string }>[]): Promise<void> {
    if (!mended) return Promise.reject(new Error('broken'));
    handled.push(...events.map(({ payload }) => payload.text));
    return Promise.resolve();
  }
}

@Module({ controllers: [ThingsConsumer, deadLettersOf('things')], providers: [{ provide: ADMIN_KEY, useValue: KEY }] })
class ThingsModule {}

const things: ServiceDefinition = { name: 'things', config: ServiceConfig, module: ThingsModule, migrations: [] };

let running: TestService;
beforeAll(async () => {
  running = await startTestService(things);
});
afterAll(() => running.stop());

test('administrators see what was given up on, and have it handled once its cause is mended', async () => {
  const admin = httpClient(running.service, { 'x-admin-key': KEY });
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
  });

  const replay = `/admin/v1/dead-letters/things/${event.id}/replay`;
  expect((await admin('POST', replay)).status).toBe(500);
  expect((await admin('GET', '/admin/v1/dead-letters/things')).body).toEqual(body);
  mended = true;
  expect((await admin('POST', replay)).status).toBe(204);
  expect(handled).toEqual(['private']);
  expect((await admin('POST', replay)).status).toBe(404);
  expect((await admin('POST', '/admin/v1/dead-letters/things/nonsense/replay')).status).toBe(404);
  expect((await admin('GET', '/admin/v1/dead-letters/things')).body).toEqual({ deadLetters: [] });
});

test.each<Record<string, string>>([{}, { 'x-admin-key': 'another administration key here' }])(
  'others are told nothing: %j',
  async (headers) => {
    const other = httpClient(running.service, headers);
    expect((await other('GET', '/admin/v1/dead-letters/things')).status).toBe(401);
    expect((await other('POST', '/admin/v1/dead-letters/things/nonsense/replay')).status).toBe(401);
  },
);
