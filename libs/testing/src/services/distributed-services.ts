import type { EventEnvelope } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { type RunningService, ServiceConfig, type ServiceDefinition, startService } from '@svc/service';
import { DataSource } from 'typeorm';
import { newMigratedDatabase, type TestDatabase } from '../postgres/test-database.js';
import { TcpProxy } from '../rabbitmq/tcp-proxy.js';
import { VirtualHost } from '../rabbitmq/virtual-host.js';

type Environment = Readonly<Record<string, string>>;

/** Stopped after the services. */
interface MessageBroker {
  readonly url: string;
  stop(): Promise<void>;
}

/** A replica that a test can kill. */
interface KillableService {
  readonly service: RunningService;
  /** Simulates kill -9: the connections break immediately, and no lease is released. */
  kill(): Promise<void>;
}

/**
 * Runs services as if they were in separate processes: with the real clock and RabbitMQ, and without other shared state.
 * Services with the same environment are replicas of one service.
 */
export class DistributedServices {
  private readonly databases: TestDatabase[] = [];
  private readonly running = new Set<RunningService>();

  private constructor(private readonly rabbitMq: MessageBroker) {}

  /** Without a `rabbitMq` for these services alone, they get a virtual host of the RabbitMQ that all tests share. */
  static async start(rabbitMq?: MessageBroker): Promise<DistributedServices> {
    return new DistributedServices(rabbitMq ?? (await VirtualHost.create()));
  }

  /** Creates a migrated database for the service, and returns the environment of its replicas. */
  async environment<C extends ServiceConfig>(
    definition: ServiceDefinition<C>,
    overrides: Environment = {},
  ): Promise<Environment> {
    const database = await newMigratedDatabase(definition);
    this.databases.push(database);
    const env = {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: database.url,
      SVC_AMQP_URL: this.rabbitMq.url,
      ...overrides,
    };
    return env;
  }

  /** Starts a service and its relay. The service does not listen on a port. */
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
    const database = await startProxyTo(env['SVC_DATABASE_URL']!);
    const broker = await startProxyTo(env['SVC_AMQP_URL']!);
    const service = await this.start(definition, {
      ...env,
      SVC_DATABASE_URL: database.url,
      SVC_AMQP_URL: broker.url,
    });
    const kill = async (): Promise<void> => {
      broker.network.cut();
      database.network.cut();
      // Frees the resources of the service in this process. Its connections are already broken, so other services do
      // not notice the stop.
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

class EmptyModule {}

/** The definition of a service without functions, for tests that only need its events: {@link appendEvents}. */
export function stubService(name: string): ServiceDefinition {
  return { name, config: ServiceConfig, module: EmptyModule, migrations: [] };
}

/** Appends events to the log of a service, which then relays them. */
export async function appendEvents(service: RunningService, ...events: EventEnvelope[]): Promise<void> {
  const log = service.app.get(EventLog);
  const newEvents = events.map(({ type: name, aggregateId, aggregateVersion, payload }) => ({
    type: { name },
    aggregateId,
    aggregateVersion,
    payload,
  }));
  await inTransaction(service.app.get(DataSource), (tx) => log.append(tx, ...newEvents));
}

export async function requestStatus(
  service: RunningService,
  method: 'GET' | 'PUT',
  url: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await service.app.inject({ method, url, headers })).statusCode;
}

export async function isReady(service: RunningService): Promise<boolean> {
  return (await requestStatus(service, 'GET', '/health/ready')) === 200;
}

async function startProxyTo(address: string): Promise<{ network: TcpProxy; url: string }> {
  const url = new URL(address);
  const network = await TcpProxy.to(url.hostname, Number(url.port));
  url.searchParams.delete('host'); // The folder of a Unix socket (tools/svc/postgres/postgres.ts).
  url.hostname = '127.0.0.1';
  url.port = String(network.localPort);
  return { network, url: url.href };
}
