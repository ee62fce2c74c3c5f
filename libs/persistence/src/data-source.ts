import pg from 'pg';
import { DataSource, type EntitySchema, type MigrationInterface, QueryFailedError, type QueryRunner } from 'typeorm';
import { CUSTOM_LOOKUP_PLANNER_SETTINGS, LOOKUP_PLANNER_SETTINGS } from './planner-settings.js';
import { observePool } from './pool-metrics.js';
import { PreparingClient } from './preparing-client.js';
import { readOnlyError } from './transaction.js';

export type EntityClass = (new () => object) | EntitySchema;
export type MigrationClass = new () => MigrationInterface;

/**
 * `look-ups`: planner settings for lookups by key, and short statements. `custom-look-ups`: the same, but each execution is
 * planned. `migrations`: PostgreSQL's own planner settings, because a migration may join whole tables, and the limits
 * {@link MIGRATION_LIMITS_MS}.
 */
export type DatabasePurpose = 'look-ups' | 'custom-look-ups' | 'migrations';

interface DataSourceSettings {
  /** `postgres://role:password@host:port/database`. The search_path of the role is the schema of the service. */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly entities?: readonly EntityClass[];
  readonly migrations?: readonly MigrationClass[];
  /**
   * Maximum number of connections of this process. The sum over all replicas of all services must be below the server's
   * max_connections.
   */
  readonly maxConnections?: number;
  /** Defaults to `look-ups`. */
  readonly purpose?: DatabasePurpose;
}

const INT8_OID = 20;
// bigint values are returned as numbers, which are exact up to 2^53. Amounts (C1) and positions are smaller, so a
// larger value is a bug.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('A bigint column holds a number over 2^53.');
  return value;
});

/**
 * The server ends a session that is idle in a transaction for this time, because an open transaction that has written
 * rows delays the seals of the ledger and the feed of notifications, which contain only what is older than every open
 * transaction. The transactions of the services make no network calls, so they are idle only for milliseconds. The
 * database roles have the same limit, which applies to the sessions of other programs (deploy/database/roles.sql,
 * tools/svc/postgres/provision.ts).
 */
export const IDLE_IN_TRANSACTION_MS = 10_000;

/** A hanging statement or idle transaction would delay the seals of the ledger. */
const LOOK_UP_LIMITS_MS = { statement_timeout: 15_000 };

/**
 * `statement_timeout`: a statement of a migration may rewrite a large table. It ends before the Job of the migrations
 * does (deploy/kubernetes.ts), so that the log of the Job has the reason. `lock_timeout`: statements of the running
 * services wait behind a migration that waits for a lock. So the migration fails instead, and the Job runs it again.
 */
export const MIGRATION_LIMITS_MS = { statement_timeout: 25 * 60_000, lock_timeout: 5_000 };

/**
 * A TypeORM data source for one service. It never synchronises the schema, because only migrations change the schema.
 */
export function newDataSource(settings: DataSourceSettings): DataSource {
  return new PoolDataSource({
    type: 'postgres',
    url: settings.url,
    applicationName: settings.applicationName,
    entities: [...(settings.entities ?? [])],
    migrations: [...(settings.migrations ?? [])],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    poolSize: settings.maxConnections ?? 10,
    connectTimeoutMS: 5_000,
    extra: {
      Client: PreparingClient,
      onConnect: rejectReadOnlySession,
      ...sessionSettings(settings.purpose ?? 'look-ups'),
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    },
  });
}

/**
 * Runs a statement outside a transaction on a connection of the pool. TypeORM would create a query runner and an entity
 * manager for each statement. The results and errors are the same as those of TypeORM.
 */
class PoolDataSource extends DataSource {
  private readonly connectionsInUse = new Set<pg.PoolClient>();
  private stopObserving = (): void => undefined;

  override async initialize(): Promise<this> {
    await super.initialize();
    const { applicationName = '' } = this.options as { applicationName?: string };
    this.stopObserving = observePool(this.pool, applicationName);
    return this;
  }

  private get pool(): pg.Pool {
    return (this.driver as unknown as { readonly master: pg.Pool }).master;
  }

  override async query<T = unknown>(statement: string, parameters?: unknown[], queryRunner?: QueryRunner): Promise<T> {
    if (queryRunner || !this.isInitialized) return super.query(statement, parameters, queryRunner);
    const connection = await this.pool.connect();
    connection.on('error', ignore);
    this.connectionsInUse.add(connection);
    try {
      const { command, rows, rowCount } = await connection.query(statement, parameters);
      return (command === 'UPDATE' || command === 'DELETE' ? [rows, rowCount] : rows) as T;
    } catch (error) {
      throw new QueryFailedError(statement, parameters, error as Error);
    } finally {
      connection.off('error', ignore);
      this.connectionsInUse.delete(connection);
      connection.release();
    }
  }

  /** Breaks running statements off, as TypeORM does. A silently lost connection would delay the end of the process. */
  override async destroy(): Promise<void> {
    this.stopObserving();
    for (const connection of this.connectionsInUse) void (connection as unknown as pg.Client).end();
    await super.destroy();
  }
}

/** A lost connection rejects the running statement. Without a listener, its event would end the process too. */
const ignore = (): void => undefined;

function sessionSettings(purpose: DatabasePurpose): Readonly<Record<string, number | string>> {
  if (purpose === 'migrations') return MIGRATION_LIMITS_MS;
  const planner = purpose === 'look-ups' ? LOOKUP_PLANNER_SETTINGS : CUSTOM_LOOKUP_PLANNER_SETTINGS;
  return { ...LOOK_UP_LIMITS_MS, options: toServerOptions(planner) };
}

function toServerOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/**
 * Rejects a read-only session before it is added to the pool. A session that begins while the database is read-only
 * (default_transaction_read_only) stays read-only when the database accepts writes again. Reads are rejected as well,
 * because a former primary may not have newer data, for example the revocation of a key.
 */
async function rejectReadOnlySession(client: pg.Client): Promise<void> {
  if (await isReadOnly(async (sql) => (await client.query<ReadOnlySetting>(sql)).rows)) throw readOnlyError();
}

/** Whether transactions of this connection are read-only, because of a setting or because the server is a standby. */
export async function isReadOnly(query: (sql: string) => Promise<ReadOnlySetting[]>): Promise<boolean> {
  const [setting] = await query('SHOW transaction_read_only');
  return setting?.transaction_read_only === 'on';
}

interface ReadOnlySetting {
  readonly transaction_read_only: string;
}
