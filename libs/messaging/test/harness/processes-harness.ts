import { promisify } from 'node:util';
import { newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import {
  type Broker,
  Commands,
  DeadLetters,
  EventLog,
  type MessagingLog,
  Relay,
  RELAY_DEFAULTS,
  Transport,
} from '../../src/index.js';
import { type Gate, openAllGates } from './gate.js';
import type { ConsumingProcess, LoggedLine, MessagingHarness, Process, ProcessHandlers, Producer } from './harness.js';
import { DeliveryHold } from './held-broker.js';

/** Connects the processes to each other through a broker: embedded, or RabbitMQ. */
export interface Brokers {
  /** The connection of a new process to the other processes. */
  connect(service: string, log: MessagingLog): Promise<Link>;
  /** Deletes all queues and exchanges of the processes. */
  close(): Promise<void>;
}

export interface Link {
  readonly broker: Broker;
  /** Breaks the connection immediately, as a crash of the process does. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Simulates each process of a service with separate connections to PostgreSQL and the broker. A crash closes these
 * connections.
 */
export class ProcessesHarness implements MessagingHarness {
  readonly clock = new ManualClock();
  readonly logLines: LoggedLine[] = [];
  private readonly databases = new Map<string, Promise<{ database: TestDatabase; dataSource: DataSource }>>();
  private readonly processes = new Set<Process>();
  private readonly deliveryHold = new DeliveryHold();
  private started = 0;
  readonly messagingLog: MessagingLog = {
    info: (_, message) => this.logLines.push({ level: 'info', message }),
    warn: (_, message) => this.logLines.push({ level: 'warn', message }),
    error: (_, message) => this.logLines.push({ level: 'error', message }),
  };

  constructor(private readonly brokers: Brokers) {}

  holdDeliveries(): Gate {
    return this.deliveryHold.hold();
  }

  async database(service: string): Promise<DataSource> {
    return (await this.databaseOf(service)).dataSource;
  }

  async startProducer(service: string): Promise<Producer> {
    const { dataSource, kill } = await this.connect(service);
    const link = await this.brokers.connect(service, this.messagingLog);
    const broker = this.deliveryHold.wrap(link.broker);
    const events = new EventLog(dataSource, this.clock);
    const relay = new Relay(dataSource, broker, this.clock, this.messagingLog, {
      ...RELAY_DEFAULTS,
      pollMs: 50,
      listeningPollMs: 50,
      leaseMs: 400,
    });
    events.onCommitted = (types) => relay.nudge(types);
    return this.track({
      dataSource,
      events,
      relay,
      commands: new Commands(broker),
      stop: async () => {
        await relay.stop();
        await dataSource.destroy();
        await link.close();
      },
      crash: async () => {
        link.cut();
        await kill();
        await relay.stop();
        await link.close();
      },
    });
  }

  async startConsumer(service: string, { events = {}, commands = {} }: ProcessHandlers): Promise<ConsumingProcess> {
    const { dataSource, kill } = await this.connect(service);
    const link = await this.brokers.connect(service, this.messagingLog);
    const transport = new Transport(service, link.broker, dataSource, this.clock, this.messagingLog);
    for (const [type, handler] of Object.entries(events)) transport.addHandler(type, handler as never, true);
    for (const [name, responder] of Object.entries(commands)) transport.addHandler(name, responder, false);
    await promisify(transport.listen.bind(transport))();
    return this.track({
      dataSource,
      deadLetters: new DeadLetters(dataSource, transport.eventHandlers, link.broker.deadLetters),
      isBackfilled: () => transport.isBackfilled(),
      stop: async () => {
        await transport.close();
        await dataSource.destroy();
        await link.close();
      },
      crash: async () => {
        link.cut();
        await kill();
        await transport.close();
        await link.close();
      },
    });
  }

  async makeDatabaseUnavailable(service: string): Promise<() => Promise<void>> {
    const { dataSource } = await this.databaseOf(service);
    const administrator = await this.database('administrator');
    const name = await currentDatabase(dataSource);
    await administrator.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, [name]);
    return async () => void (await administrator.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`));
  }

  async close(): Promise<void> {
    openAllGates();
    for (const process of [...this.processes]) await process.stop();
    await this.brokers.close();
    for (const entry of this.databases.values()) {
      const { database, dataSource } = await entry;
      await dataSource.destroy();
      await database.drop();
    }
  }

  private track<P extends Process>(process: P): P {
    const tracked: P = {
      ...process,
      stop: () => (this.processes.delete(tracked), process.stop()),
      crash: () => (this.processes.delete(tracked), process.crash()),
    };
    this.processes.add(tracked);
    return tracked;
  }

  private async connect(service: string): Promise<{ dataSource: DataSource; kill: () => Promise<void> }> {
    const { database, dataSource: testDataSource } = await this.databaseOf(service);
    const applicationName = `${service}#${++this.started}`;
    const dataSource = await newDataSource({ url: database.url, applicationName }).initialize();
    const kill = async (): Promise<void> => {
      const closed = dataSource.destroy();
      await testDataSource.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`, [
        applicationName,
      ]);
      await closed;
    };
    return { dataSource, kill };
  }

  private databaseOf(service: string): Promise<{ database: TestDatabase; dataSource: DataSource }> {
    const existing = this.databases.get(service);
    if (existing) return existing;
    const created = this.newDatabase();
    this.databases.set(service, created);
    return created;
  }

  private async newDatabase(): Promise<{ database: TestDatabase; dataSource: DataSource }> {
    const database = await newMessagingDatabase();
    const dataSource = newDataSource({ url: database.url, applicationName: 'contract test' });
    await dataSource.initialize();
    return { database, dataSource };
  }
}

async function currentDatabase(dataSource: DataSource): Promise<string> {
  const [row] = await dataSource.query<{ name: string }[]>(`SELECT current_database() AS name`);
  return row!.name;
}
