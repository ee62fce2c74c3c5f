import { promisify } from 'node:util';
import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import {
  type Broker,
  Commands,
  DeadLetters,
  EventLog,
  type MessagingLog,
  messagingMigrations,
  Relay,
  RELAY_DEFAULTS,
  Transport,
} from '../../src/index.js';
import type { Gate } from './gate.js';
import { HandOverDoor } from './hand-over-door.js';
import type { ConsumingProcess, LoggedLine, MessagingHarness, Process, ProcessHandlers, Producer } from './harness.js';

/** Connects the processes: the only difference between the harnesses. */
export interface Brokers {
  /** The connection of a new process to the others. */
  connect(service: string, log: MessagingLog): Promise<Link>;
  /** Removes everything that the processes left behind. */
  close(): Promise<void>;
}

export interface Link {
  readonly broker: Broker;
  /** As when the process dies: at once, without closing the connection properly. */
  cut(): void;
  close(): Promise<void>;
}

/** Services on real PostgreSQL, each with connections of its own. A crash closes the service's connections. */
export class ProcessesHarness implements MessagingHarness {
  readonly clock = new ManualClock();
  readonly logged: LoggedLine[] = [];
  private readonly databases = new Map<string, Promise<{ database: TestDatabase; dataSource: DataSource }>>();
  private readonly processes = new Set<Process>();
  private readonly door = new HandOverDoor();
  private started = 0;
  readonly messagingLog: MessagingLog = {
    info: (_, message) => this.logged.push({ level: 'info', message }),
    warn: (_, message) => this.logged.push({ level: 'warn', message }),
    error: (_, message) => this.logged.push({ level: 'error', message }),
  };

  constructor(private readonly brokers: Brokers) {}

  holdHandOvers(): Gate {
    return this.door.hold();
  }

  async database(service: string): Promise<DataSource> {
    return (await this.databaseOf(service)).dataSource;
  }

  async producer(service: string): Promise<Producer> {
    const { dataSource, kill } = await this.connect(service);
    const link = await this.brokers.connect(service, this.messagingLog);
    const broker = this.door.before(link.broker);
    const events = new EventLog(dataSource, this.clock);
    const relay = new Relay(dataSource, broker, this.clock, this.messagingLog, {
      ...RELAY_DEFAULTS,
      pollMs: 50,
      leaseMs: 400,
    });
    events.onCommitted = (types) => relay.nudge(types);
    return this.running({
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

  async consumer(service: string, { events = {}, commands = {} }: ProcessHandlers): Promise<ConsumingProcess> {
    const { dataSource, kill } = await this.connect(service);
    const link = await this.brokers.connect(service, this.messagingLog);
    const transport = new Transport(service, link.broker, dataSource, this.clock, this.messagingLog);
    for (const [type, handler] of Object.entries(events)) transport.addHandler(type, handler as never, true);
    for (const [name, answer] of Object.entries(commands)) transport.addHandler(name, answer, false);
    await promisify(transport.listen.bind(transport))();
    return this.running({
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
    this.door.open();
    for (const process of [...this.processes]) await process.stop();
    await this.brokers.close();
    for (const opened of this.databases.values()) {
      const { database, dataSource } = await opened;
      await dataSource.destroy();
      await database.drop();
    }
  }

  private running<P extends Process>(process: P): P {
    const tracked: P = {
      ...process,
      stop: () => (this.processes.delete(tracked), process.stop()),
      crash: () => (this.processes.delete(tracked), process.crash()),
    };
    this.processes.add(tracked);
    return tracked;
  }

  private async connect(service: string): Promise<{ dataSource: DataSource; kill: () => Promise<void> }> {
    const { database, dataSource: ours } = await this.databaseOf(service);
    const applicationName = `${service}#${++this.started}`;
    const dataSource = await newDataSource({ url: database.url, applicationName }).initialize();
    const kill = async (): Promise<void> => {
      const closed = dataSource.destroy();
      await ours.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`, [
        applicationName,
      ]);
      await closed;
    };
    return { dataSource, kill };
  }

  private databaseOf(service: string): Promise<{ database: TestDatabase; dataSource: DataSource }> {
    const known = this.databases.get(service);
    if (known) return known;
    const made = this.newDatabase();
    this.databases.set(service, made);
    return made;
  }

  private async newDatabase(): Promise<{ database: TestDatabase; dataSource: DataSource }> {
    const database = await newTestDatabase();
    const dataSource = newDataSource({
      url: database.url,
      applicationName: 'contract test',
      migrations: messagingMigrations,
    });
    await dataSource.initialize();
    await dataSource.runMigrations({ transaction: 'each' });
    return { database, dataSource };
  }
}

async function currentDatabase(dataSource: DataSource): Promise<string> {
  const [row] = await dataSource.query<{ name: string }[]>(`SELECT current_database() AS name`);
  return row!.name;
}
