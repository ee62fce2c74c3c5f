import { Controller, Get, Inject, Module } from '@nestjs/common';
import { commandType, type EventEnvelope, eventType } from '@svc/contracts';
import { Commands, type ConsumerContext, EventLog, EventPattern, MessagePattern } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DistributedServices, isReady, letTimePass, PrivateRabbitMq, waitUntil } from '@svc/testing';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { type RunningService, ServiceConfig, type ServiceDefinition } from './index.js';

// Tests of services that share only RabbitMQ, as they do in separate processes.

const GreetedV1 = eventType<{ name: string }>('greeted.v1');
const GreetV1 = commandType<{ name: string }, { greeting: string }>('greet.v1');

@Controller()
class GreeterController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
  ) {}

  @MessagePattern(GreetV1)
  async greet({ name }: { name: string }): Promise<{ greeting: string }> {
    const event = { type: GreetedV1, aggregateId: name, aggregateVersion: 1, payload: { name } };
    await inTransaction(this.dataSource, (tx) => this.events.append(tx, event));
    return { greeting: `Hello ${name}` };
  }
}

@Controller()
class GuestbookController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  @Get('greet')
  greet(): Promise<{ greeting: string }> {
    return this.commands.request(GreetV1, { name: 'Ada' });
  }

  @Get('guests')
  guests(): Promise<unknown> {
    return this.dataSource.query('SELECT name FROM guests ORDER BY name');
  }

  /** A replay adds no guest twice, because the inbox skips events that were already handled. */
  @EventPattern(GreetedV1)
  async greeted(events: EventEnvelope<{ name: string }>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload } of events) await tx.query('INSERT INTO guests (name) VALUES ($1)', [payload.name]);
  }
}

class Guests1763500000020 implements MigrationInterface {
  readonly name = 'Guests1763500000020';
  async up(db: QueryRunner): Promise<void> {
    await db.query('CREATE TABLE guests (name text NOT NULL)');
  }
  down(): Promise<void> {
    return Promise.reject(new Error('Forward only.'));
  }
}

@Module({ controllers: [GreeterController] })
class GreeterModule {}
@Module({ controllers: [GuestbookController] })
class GuestbookModule {}

const greeter: ServiceDefinition = { name: 'greeter', config: ServiceConfig, module: GreeterModule, migrations: [] };
const guestbook: ServiceDefinition = {
  name: 'guestbook',
  config: ServiceConfig,
  module: GuestbookModule,
  migrations: [Guests1763500000020],
};

let rabbitMq: PrivateRabbitMq;
let services: DistributedServices;
let greeterEnv: Readonly<Record<string, string>>;
let book: RunningService;

beforeAll(async () => {
  rabbitMq = await PrivateRabbitMq.start();
  services = await DistributedServices.start(rabbitMq);
  greeterEnv = await services.environment(greeter);
  book = await services.start(guestbook, await services.environment(guestbook));
});
afterAll(() => services.close());

async function get(service: RunningService, url: string): Promise<{ status: number; body: unknown }> {
  const { statusCode, body } = await service.app.inject({ method: 'GET', url });
  return { status: statusCode, body: JSON.parse(body) as unknown };
}

test('services exchange events and commands through RabbitMQ, and a replay delivers earlier events to a service that starts later', async () => {
  const lateGuestbook = { ...guestbook, name: 'late-guestbook' };
  expect(await get(book, '/health/ready')).toMatchObject({ status: 200 });
  expect(await get(book, '/greet')).toMatchObject({ status: 503 });

  const first = await services.start(greeter, greeterEnv);
  expect(await get(first, '/health/ready')).toMatchObject({ status: 200 });
  expect(await get(book, '/greet')).toEqual({ status: 200, body: { greeting: 'Hello Ada' } });
  const adaListed = { status: 200, body: [{ name: 'Ada' }] };
  await waitUntil('the guest', 8_000, async () => ((await get(book, '/guests')).body as unknown[]).length > 0);
  expect(await get(book, '/guests')).toEqual(adaListed);

  // The publisher is stopped, so a new service gets no replay. It is not ready, but it serves the data that it has.
  await services.stop(first);
  const late = await services.start(lateGuestbook, await services.environment(lateGuestbook));
  expect(await get(late, '/health/ready')).toMatchObject({ status: 503 });
  expect(await get(late, '/guests')).toEqual({ status: 200, body: [] });

  await services.start(greeter, greeterEnv);
  await waitUntil('readiness', 8_000, () => isReady(late));
  expect(await get(late, '/guests')).toEqual(adaListed);
  expect(await get(book, '/guests')).toEqual(adaListed);
});

describe('a service whose user may not publish a type that the service declares', () => {
  /** The table of messages has this service's declarations. */
  const declaring = { ...greeter, name: 'hosted-gateway' };
  const DECLARED = '(session\\.created|session\\.extended|hosted-gateway\\.administered)\\.v1';
  const ALL_BUT_ONE = '(session\\.created|hosted-gateway\\.administered)\\.v1';

  async function allowToPublish(types: string): Promise<void> {
    // The keys with which a service checks its permissions end in `.to.<slot>`.
    await rabbitMq.control('set_topic_permissions', 'limited', 'svc.events', `^${types}(\\.to\\.\\d+)?$`, '.*');
  }

  test('is not ready and says why until the type is allowed, and stays ready after that', async () => {
    await rabbitMq.control('add_user', 'limited', 'secret');
    await rabbitMq.control('set_permissions', 'limited', '.*', '.*', '.*');
    await allowToPublish(ALL_BUT_ONE);
    const url = new URL(rabbitMq.url);
    [url.username, url.password] = ['limited', 'secret'];
    const service = await services.start(declaring, await services.environment(declaring, { SVC_AMQP_URL: url.href }));
    expect(await get(service, '/health/ready')).toMatchObject({
      status: 503,
      body: { detail: 'Not ready: the broker does not allow this service to publish session.extended.v1.' },
    });
    await allowToPublish(DECLARED);
    await waitUntil('readiness', 20_000, () => isReady(service));
    await allowToPublish(ALL_BUT_ONE);
    expect(await get(service, '/health/ready')).toMatchObject({ status: 200, body: { broker: 'up' } });
    await services.stop(service);
  });

  test('is ready while the broker is unavailable, because then nothing is known', async () => {
    const env = await services.environment(declaring, { SVC_AMQP_URL: 'amqp://127.0.0.1:1' });
    const service = await services.start(declaring, env);
    expect(await get(service, '/health/ready')).toEqual({ status: 200, body: { status: 'ok', broker: 'unavailable' } });
    await services.stop(service);
  });
});

test('while the broker is unavailable, services start, are ready and report its state, and requests that need the broker fail', async () => {
  expect(await get(book, '/health/ready')).toEqual({ status: 200, body: { status: 'ok', broker: 'up' } });

  // RabbitMQ can lose a quorum queue if it is killed soon after the declaration.
  await letTimePass(2_500);
  await rabbitMq.kill();
  await waitUntil('the service to report the lost connection', 8_000, async () => {
    const { body } = await get(book, '/health/ready');
    return (body as { broker: string }).broker === 'unavailable';
  });
  expect(await get(book, '/health/ready')).toEqual({ status: 200, body: { status: 'ok', broker: 'unavailable' } });
  expect(await get(book, '/greet')).toMatchObject({ status: 503 });
  expect(await get(book, '/guests')).toMatchObject({ status: 200 });

  const started = await services.start(greeter, greeterEnv);
  expect(await get(started, '/health/ready')).toEqual({ status: 200, body: { status: 'ok', broker: 'unavailable' } });

  await rabbitMq.restart();
  // Publishing and consuming use separate connections.
  await waitUntil('the broker to be back', 15_000, async () => {
    const { body } = await get(book, '/health/ready');
    return (body as { broker: string }).broker === 'up';
  });
  await waitUntil('a successful request', 15_000, async () => (await get(book, '/greet')).status === 200);
});

test('a service that may not declare its queue for requests is not ready until the broker permits it, and the others stay ready', async () => {
  const ready = await services.start({ ...greeter, name: 'second-greeter' }, await services.environment(greeter));
  await waitUntil('readiness', 15_000, () => isReady(ready));
  await rabbitMq.control('set_permissions', 'guest', '^(?!svc\\.commands\\.)', '.*', '.*');
  await rabbitMq.control('close_all_connections', 'test');
  await waitUntil('the service to report the refusal', 30_000, async () => {
    const { status, body } = await get(ready, '/health/ready');
    return status === 503 && JSON.stringify(body).includes('the broker refuses the queues of greet.v1');
  });
  // This service answers no requests, so it is ready.
  expect(await get(book, '/health/ready')).toEqual({ status: 200, body: { status: 'ok', broker: 'up' } });
  expect(await get(book, '/greet')).toMatchObject({ status: 503 });

  await rabbitMq.control('set_permissions', 'guest', '.*', '.*', '.*');
  await waitUntil('readiness', 30_000, () => isReady(ready));
  await waitUntil('a successful request', 15_000, async () => (await get(book, '/greet')).status === 200);
});
