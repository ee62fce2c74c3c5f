import type { EventEnvelope, EventType } from '@svc/contracts';
import { EmbeddedBroker, Relay } from '@svc/messaging';
import { type RunningService, type ServiceConfig, type ServiceDefinition, startService } from '@svc/service';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { ManualClock } from '../manual-clock.js';
import { newMigratedDatabase } from '../postgres/test-database.js';

export interface TestService {
  readonly service: RunningService;
  readonly clock: ManualClock;
  readonly broker: EmbeddedBroker;
  /** The data source of the service. Its role may read and write rows, but owns no tables. */
  readonly dataSource: DataSource;
  /**
   * A pool for actions that the role of the service may not do: TRUNCATE, ALTER TABLE, VACUUM, changes of append-only
   * tables. It connects when it is first used.
   */
  readonly superuser: pg.Pool;
  /** All events of the service, in the order of its log. */
  published<T>(type: EventType<T>): Promise<EventEnvelope<T>[]>;
  /** Delivers events to the service's consumers, as a relay of another service would. */
  deliver(...events: EventEnvelope[]): Promise<void>;
  /** Relays all events of the service's log. */
  relay(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Record<string, string>;
  readonly clock?: ManualClock;
  /**
   * A broker that several services of a test use. The default is a new broker, so that the service reaches no other
   * service.
   */
  readonly broker?: EmbeddedBroker;
}

/**
 * Starts a service with a new database and a clock that the test advances. Its relay runs only when the test calls
 * `relay`.
 */
export async function startTestService<C extends ServiceConfig>(
  definition: ServiceDefinition<C>,
  { env = {}, clock = new ManualClock(), broker = new EmbeddedBroker() }: TestServiceOptions = {},
): Promise<TestService> {
  const database = await newMigratedDatabase(definition);
  const fullEnv = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: database.url, ...env };
  const service = await startService(definition, { env: fullEnv, broker: broker, clock });
  const dataSource = service.app.get(DataSource);
  const superuser = new pg.Pool({ connectionString: database.superuserUrl, max: 2 });
  // Some tests break connections deliberately. Without a listener, the error would end the process.
  superuser.on('error', () => undefined);
  return {
    service,
    clock,
    broker,
    dataSource,
    superuser,
    published: (type) =>
      dataSource.query(
        `SELECT id, type, aggregate_id AS "aggregateId", aggregate_version AS "aggregateVersion",
                occurred_at AS "occurredAt", payload FROM event_log WHERE type = $1 ORDER BY txid, position`,
        [type.name],
      ),
    deliver: async (...events) => {
      const target = broker.targets().find(({ name }) => name === definition.name);
      if (!target) throw new Error(`${definition.name} consumes nothing.`);
      await target.deliver(events);
    },
    relay: async () => {
      await service.app.get(Relay).deliverAll();
    },
    stop: async () => {
      await service.close();
      await superuser.end();
      await database.drop();
    },
  };
}

let sequence = 0;

/** Creates an event, as another service would publish it. */
export function anEvent<T>(
  type: EventType<T>,
  aggregateId: string,
  aggregateVersion: number,
  payload: NoInfer<T>,
): EventEnvelope<T> {
  const id = `00000000-0000-7000-8000-${String(++sequence).padStart(12, '0')}`;
  return { id, type: type.name, aggregateId, aggregateVersion, occurredAt: '2026-03-01T10:00:00.000Z', payload };
}
