import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { Clock, observeMetrics } from '@svc/kernel';
import {
  type Broker,
  Commands,
  DeadLetters,
  DirectPublisher,
  EmbeddedBroker,
  ensureMonthPartitions,
  EventLog,
  MESSAGING_LOG,
  messagingMigrations,
  RabbitMqBroker,
  Relay,
  ReplayAfterRestore,
  Restores,
  Transport,
} from '@svc/messaging';
import { type DatabasePurpose, type EntityClass, migrate, type MigrationClass, newDataSource } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { DatabaseConfig, loadConfig, type ServiceConfig } from './configuration/config.js';
import { newClock } from './configuration/demo-clock.js';
import { HealthController } from './health/health.controller.js';
import { newLog, type ServiceLog } from './logging.js';
import { type AppDefinition, closeApp, createApp } from './nest-app.js';
import { VERSION } from './version.js';

/** The settings in which services differ. Start, request handling and shutdown are the same for all services. */
export interface ServiceDefinition<C extends ServiceConfig = ServiceConfig> extends AppDefinition {
  readonly config: new () => C;
  readonly entities?: readonly EntityClass[];
  /** The migrations of the service. The migrations of libs/messaging run before them. */
  readonly migrations: readonly MigrationClass[];
  /**
   * How long an event may wait so that it is handled in a batch with other events, in milliseconds. The default is 0.
   * Set it only for services where no person waits for the effect of an event.
   */
  readonly maxBatchWaitMs?: number;
  /**
   * `custom-look-ups`: each execution of a statement is planned with the current sizes of the tables (pages for people
   * with many filters). The default is a generic plan for each statement, for hot paths.
   */
  readonly planner?: Exclude<DatabasePurpose, 'migrations'>;
  /**
   * Who opens the service after a restore of its database: the service itself when it has received the forgotten events
   * again (default), or an administrator, because it must first be compared with the bank (docs/backup.md).
   */
  readonly opensAfterRestore?: 'by-itself' | 'by-administrator';
}

interface ServiceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The broker that is used if SVC_AMQP_URL is not set. The default is a new broker, through which the service reaches
   * no other service.
   */
  readonly broker?: Broker;
  readonly clock?: Clock;
}

export interface RunningService {
  readonly name: string;
  readonly app: NestFastifyApplication;
  readonly log: ServiceLog;
  /** Starts the relay, which publishes the stored events. Call it when all services of the process have started. */
  startRelaying(): Promise<void>;
  stopRelaying(): Promise<void>;
  /**
   * Requests the forgotten events again if the database was restored. Call it when all services of the process relay.
   */
  replayAfterRestore(): Promise<void>;
  /** Completes the requests and messages in progress, then closes all connections. */
  close(): Promise<void>;
}

/** Starts a service that can handle requests (through `app.inject` or a proxy), but does not listen on a port yet. */
export async function startService<C extends ServiceConfig>(
  definition: ServiceDefinition<C>,
  { env, broker: embeddedBroker = new EmbeddedBroker(), clock: ownClock }: ServiceOptions,
): Promise<RunningService> {
  const config = loadConfig(definition.config, env);
  const clock = ownClock ?? newClock(config);
  const log = newLog(definition.name, config.SVC_LOG_LEVEL);
  const dataSource = await newServiceDataSource(definition, config).initialize();
  // The partitions must exist before the modules start, because the modules may append events.
  await ensureMonthPartitions(dataSource, clock);
  const rabbitMq = newRabbitMqBroker(definition.name, config, log);
  const broker = rabbitMq ?? embeddedBroker;
  const events = new EventLog(dataSource, clock);
  const relay = new Relay(dataSource, broker, clock, log);
  const transport = new Transport(definition.name, broker, dataSource, clock, log, definition.maxBatchWaitMs);
  const restores = new Restores(dataSource, clock);
  const replayAfterRestore = newReplayAfterRestore(definition, { restores, transport, log });
  const directPublisher = new DirectPublisher(broker, log);
  const deadLetters = new DeadLetters(dataSource, transport.eventHandlers, rabbitMq?.deadLetters);
  events.onCommitted = (types) => relay.nudge(types);
  events.publishDirectly = (envelopes) => directPublisher.publish(envelopes);

  const app = await createApp(definition, {
    log,
    environment: config.SVC_ENVIRONMENT,
    trustedProxies: config.SVC_TRUSTED_PROXIES,
    errorPages: config.SVC_ERROR_PAGES_URL,
    explainsUnknownRoutes: true,
    controllers: [HealthController],
    providers: [
      { provide: definition.config, useValue: config },
      { provide: MESSAGING_LOG, useValue: log },
      { provide: Clock, useValue: clock },
      { provide: DataSource, useValue: dataSource },
      { provide: EventLog, useValue: events },
      { provide: DirectPublisher, useValue: directPublisher },
      { provide: Relay, useValue: relay },
      { provide: Restores, useValue: restores },
      { provide: Transport, useValue: transport },
      { provide: Commands, useValue: new Commands(broker) },
      { provide: DeadLetters, useValue: deadLetters },
    ],
  });
  app.connectMicroservice({ strategy: transport }, { inheritAppConfig: true });
  await app.init();
  // Messages are handled only after the modules have started, because their handlers need data that the modules load
  // (keys).
  await app.startAllMicroservices();
  await rabbitMq?.checkPermissions();
  await app.getHttpAdapter().getInstance().ready();
  const stopObserving = observeVersion(definition.name);

  return {
    name: definition.name,
    app,
    log,
    startRelaying: () => relay.start(),
    stopRelaying: () => relay.stop(),
    replayAfterRestore: () => replayAfterRestore.start(),
    close: async () => {
      stopObserving();
      await replayAfterRestore.stop();
      await relay.stop();
      await closeApp(app);
      await directPublisher.close();
      await dataSource.destroy();
      await rabbitMq?.close();
    },
  };
}

function observeVersion(service: string): () => void {
  return observeMetrics(['svc.build.info'], (observe) => observe('svc.build.info', 1, { service, version: VERSION }));
}

function newReplayAfterRestore(
  { opensAfterRestore }: Pick<ServiceDefinition, 'opensAfterRestore'>,
  { restores, transport, log }: { restores: Restores; transport: Transport; log: ServiceLog },
): ReplayAfterRestore {
  return new ReplayAfterRestore(restores, transport, log, opensAfterRestore !== 'by-administrator');
}

/** Returns undefined if SVC_AMQP_URL is not set, because all services then run in this process. */
function newRabbitMqBroker(service: string, config: ServiceConfig, log: ServiceLog): RabbitMqBroker | undefined {
  const { SVC_AMQP_URL: url } = config;
  if (url === undefined) return undefined;
  // The services of tests are not in the table.
  const messages = (SERVICE_MESSAGES as Readonly<Record<string, ServiceMessages>>)[service];
  return new RabbitMqBroker({ url, service, log, ...(messages ? { messages } : {}) });
}

/**
 * Migrates the service's schema. Requires only the environment variables of the database. Returns the names of the
 * executed migrations.
 */
export async function migrateService<C extends ServiceConfig>(
  definition: ServiceDefinition<C>,
  env: ServiceOptions['env'],
): Promise<string[]> {
  const { SVC_DATABASE_URL, SVC_DATABASE_POOL_MAX } = env;
  const config = loadConfig(DatabaseConfig, { SVC_DATABASE_URL, SVC_DATABASE_POOL_MAX });
  const dataSource = await newServiceDataSource(definition, config, 'migrations').initialize();
  try {
    return await migrate(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

function newServiceDataSource<C extends ServiceConfig>(
  definition: ServiceDefinition<C>,
  config: DatabaseConfig,
  purpose: DatabasePurpose = definition.planner ?? 'look-ups',
): DataSource {
  return newDataSource({
    url: config.SVC_DATABASE_URL,
    applicationName: definition.name,
    entities: definition.entities ?? [],
    migrations: [...messagingMigrations, ...definition.migrations],
    maxConnections: config.SVC_DATABASE_POOL_MAX,
    purpose,
  });
}
