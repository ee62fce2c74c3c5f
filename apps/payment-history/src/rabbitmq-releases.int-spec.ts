import { Controller, Module } from '@nestjs/common';
import { type EventEnvelope, eventType } from '@svc/contracts';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import type { RunningService, ServiceDefinition } from '@svc/service';
import { anEvent, appendEvents, DistributedServices, isReady, stubService, waitUntil } from '@svc/testing';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { ADMIN_KEY } from '../test/history.js';
import type { PaymentHistoryConfig } from './config.js';
import { paymentHistoryService } from './index.js';

// A rollout of this service, forward and back: the release as it is, and the same with one more event type.

const AddedV1 = eventType<{ nr: number }>('added.v1');

@Controller()
class AddedConsumer {
  /** Replay: the inbox marks it; the table would show a second effect. */
  @EventPattern(AddedV1)
  async record(events: EventEnvelope<{ nr: number }>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload } of events) await tx.query(`INSERT INTO added (nr) VALUES ($1)`, [payload.nr]);
  }
}

@Module({ imports: [paymentHistoryService.module], controllers: [AddedConsumer] })
class NewerModule {}

class Added1763500007999 implements MigrationInterface {
  readonly name = 'Added1763500007999';
  async up(db: QueryRunner): Promise<void> {
    await db.query(`CREATE TABLE added (nr int NOT NULL)`);
  }
  down(): Promise<void> {
    return Promise.reject(new Error('Forward only.'));
  }
}

const newerRelease: ServiceDefinition<PaymentHistoryConfig> = {
  ...paymentHistoryService,
  module: NewerModule,
  migrations: [...paymentHistoryService.migrations, Added1763500007999],
};
const processor = stubService('payment-processor');
let services: DistributedServices;
let env: Readonly<Record<string, string>>;
let paying: RunningService;
let older: RunningService;

beforeAll(async () => {
  services = await DistributedServices.start();
  env = await services.environment(newerRelease, { SVC_ADMIN_KEY: ADMIN_KEY });
  older = await services.start(paymentHistoryService, env);
  paying = await services.start(processor, await services.environment(processor));
});
afterAll(() => services.close());

let published = 0;
async function publish(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => anEvent(AddedV1, `${published}`, 1, { nr: published++ }));
  await appendEvents(paying, ...events);
}

async function recorded(): Promise<number[]> {
  const rows = await older.app.get(DataSource).query<{ nr: number }[]>(`SELECT nr FROM added ORDER BY nr`);
  return rows.map(({ nr }) => nr);
}

async function expectAllOnce(): Promise<void> {
  await waitUntil('all effects', 20_000, async () => (await recorded()).length >= published);
  expect(await recorded()).toEqual(Array.from({ length: published }, (_, nr) => nr));
}

test('rollout, two releases side by side, rollback and rollout again: each event of the new type is handled once', async () => {
  // Published before the newer release is there: it requests them, and the older one reads replays.
  await publish(150);
  const newer = await services.start(newerRelease, env);
  await waitUntil('the newer release to be ready', 20_000, () => isReady(newer));
  await expectAllOnce();

  for (let i = 0; i < 20; i++) await publish(5);
  await expectAllOnce();
  // A replica of the older release that is started during the rollout changes nothing.
  const restarted = await services.start(paymentHistoryService, env);
  await publish(50);
  await expectAllOnce();

  await services.stop(newer);
  await publish(50);
  await services.stop(restarted);
  const again = await services.start(newerRelease, env);
  await waitUntil('the newer release to be ready again', 20_000, () => isReady(again));
  await publish(50);
  await expectAllOnce();
});
