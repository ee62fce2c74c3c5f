import { Controller, Module } from '@nestjs/common';
import { type EventEnvelope, eventType } from '@svc/contracts';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import type { RunningService, ServiceDefinition } from '@svc/service';
import { anEvent, appendEvents, DistributedServices, isReady, stubService, waitUntil } from '@svc/testing';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { ADMIN_KEY } from '../test/history.js';
import type { PaymentHistoryConfig } from './config.js';
import { paymentHistoryService } from './index.js';

// Tests a rollout and a rollback of this service. The newer release handles one more event type than the older release.

const AddedV1 = eventType<{ nr: number }>('added.v1');

@Controller()
class AddedConsumer {
  /**
   * The inbox skips an event that was handled before. If it did not, the table would contain the event twice, because
   * the table has no unique key.
   */
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
let processorService: RunningService;
let older: RunningService;

beforeAll(async () => {
  services = await DistributedServices.start();
  env = await services.environment(newerRelease, { SVC_ADMIN_KEY: ADMIN_KEY });
  older = await services.start(paymentHistoryService, env);
  processorService = await services.start(processor, await services.environment(processor));
});
afterAll(() => services.close());

let publishedCount = 0;
async function publish(count: number): Promise<void> {
  const events = Array.from({ length: count }, () =>
    anEvent(AddedV1, `${publishedCount}`, 1, { nr: publishedCount++ }),
  );
  await appendEvents(processorService, ...events);
}

async function readHandledEvents(): Promise<number[]> {
  const rows = await older.app.get(DataSource).query<{ nr: number }[]>(`SELECT nr FROM added ORDER BY nr`);
  return rows.map(({ nr }) => nr);
}

async function expectEachHandledOnce(): Promise<void> {
  await waitUntil('all events', 20_000, async () => (await readHandledEvents()).length >= publishedCount);
  expect(await readHandledEvents()).toEqual(Array.from({ length: publishedCount }, (_, nr) => nr));
}

test('each event of a new type is handled once during a rollout, a rollback and a second rollout', async () => {
  // These events are published before the newer release starts, so the newer release has to request their replay.
  await publish(150);
  const newer = await services.start(newerRelease, env);
  await waitUntil('the newer release to be ready', 20_000, () => isReady(newer));
  await expectEachHandledOnce();

  for (let i = 0; i < 20; i++) await publish(5);
  await expectEachHandledOnce();
  // A replica of the older release starts during the rollout. It must not change the result.
  const restarted = await services.start(paymentHistoryService, env);
  await publish(50);
  await expectEachHandledOnce();

  await services.stop(newer);
  await publish(50);
  await services.stop(restarted);
  const newerAgain = await services.start(newerRelease, env);
  await waitUntil('the newer release to be ready again', 20_000, () => isReady(newerAgain));
  await publish(50);
  await expectEachHandledOnce();
});
