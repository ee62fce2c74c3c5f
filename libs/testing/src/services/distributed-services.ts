import type { EventEnvelope } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { type RunningService, ServiceConfig, type ServiceDefinition, startService } from '@svc/service';
import { DataSource } from 'typeorm';
import { newMigratedDatabase, type TestDatabase } from '../postgres/test-database.js';
import { PrivateRabbitMq } from '../rabbitmq/private-rabbitmq.js';
import { TcpProxy } from '../rabbitmq/tcp-proxy.js';

type Environment = Readonly<Record<string, string>>;

/** A replica that a test can kill. */
export interface KillableService {
  readonly service: RunningService;
  /** Like `kill -9`: its connections break at once, and it releases no lease. */
  kill(): Promise<void>;
}

/**
 * Services as in processes of their own: in real time, over a private RabbitMQ, without other shared state. Services with the same
 * environment are replicas of one service.
 */
export class DistributedServices {
  private readonly databases: TestDatabase[] = [];
  private readonly running = new Set<RunningService>();

  private constructor(readonly rabbitMq: PrivateRabbitMq) {}

  static async start(): Promise<DistributedServices> {
    return new DistributedServices(await PrivateRabbitMq.start());
  }

  /** Environment of a service with an empty, migrated database of its own. */
  async environment<C extends ServiceConfig>(
    definition: ServiceDefinition<C>,
    more: Environment = {},
  ): Promise<Environment> {
    const database = await newMigratedDatabase(definition);
    this.databases.push(database);
    const env = {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: database.url,
      SVC_AMQP_URL: this.rabbitMq.url,
      ...more,
    };
    return env;
  }

  /** Starts a service that relays, and does not listen yet. */
  async start<C extends ServiceConfig>(definition: ServiceDefinition<C>, env: Environment): Promise<RunningService> {
    const service = await startService(definition, { env });
    this.running.add(service);
    await service.startRelaying();
    return service;
  }

  async startKillable<C extends ServiceConfig>(
    definition: ServiceDefinition<C>,
    env: Environment,
  ): Promise<KillableService> {
    const database = await networkTo(env['SVC_DATABASE_URL']!);
    const broker = await networkTo(env['SVC_AMQP_URL']!);
    const service = await this.start(definition, {
      ...env,
      SVC_DATABASE_URL: database.url,
      SVC_AMQP_URL: broker.url,
    });
    const kill = async (): Promise<void> => {
      broker.network.cut();
      database.network.cut();
      // Closes only resources of this process: the other services notice nothing of it.
      await this.stop(service).catch(() => undefined);
    };
    return { service, kill };
  }

  async stop(service: RunningService): Promise<void> {
    this.running.delete(service);
    await service.close();
  }

  async close(): Promise<void> {
    for (const service of this.running) await service.close();
    for (const database of this.databases) await database.drop();
    await this.rabbitMq.stop();
  }
}

class NothingOfItsOwn {}

/** Replaces a service of which a test only needs the events: {@link appendEvents}. */
export function stubService(name: string): ServiceDefinition {
  return { name, config: ServiceConfig, module: NothingOfItsOwn, migrations: [] };
}

/** Appends these events to the service's log, from which they are relayed. */
export async function appendEvents(service: RunningService, ...events: EventEnvelope[]): Promise<void> {
  const log = service.app.get(EventLog);
  const news = events.map(({ type: name, aggregateId, aggregateVersion, payload }) => ({
    type: { name },
    aggregateId,
    aggregateVersion,
    payload,
  }));
  await inTransaction(service.app.get(DataSource), (tx) => log.append(tx, ...news));
}

export async function statusOf(
  service: RunningService,
  method: 'GET' | 'PUT',
  url: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await service.app.inject({ method, url, headers })).statusCode;
}

export async function isReady(service: RunningService): Promise<boolean> {
  return (await statusOf(service, 'GET', '/health/ready')) === 200;
}

async function networkTo(address: string): Promise<{ network: TcpProxy; url: string }> {
  const url = new URL(address);
  const network = await TcpProxy.to(url.hostname, Number(url.port));
  url.hostname = '127.0.0.1';
  url.port = String(network.localPort);
  return { network, url: url.href };
}
