import pg from 'pg';
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import { LOOK_UP_PLANS } from './planner-settings.js';
import { PreparingClient } from './preparing-client.js';
import { readOnlyError } from './transaction.js';

export type EntityClass = (new () => object) | EntitySchema;
export type MigrationClass = new () => MigrationInterface;

export interface DataSourceSettings {
  /** `postgres://role:password@host:port/database`. The role's search_path names the service's own schema. */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly entities?: readonly EntityClass[];
  readonly migrations?: readonly MigrationClass[];
  /** Most connections this process opens; replicas × pools must stay below the server's max_connections. */
  readonly poolMax?: number;
  /** `look-ups` by default. `default` uses PostgreSQL's own planner settings, for migrations, which may join whole tables. */
  readonly planner?: 'look-ups' | 'default';
}

const INT8_OID = 20;
// Amounts and positions fit a double exactly (C1 bounds amounts); a bigint beyond that is a bug, not a rounding.
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('A bigint column holds a number over 2^53.');
  return value;
});

/**
 * The server ends a session whose transaction is open and idle for so long. An open transaction that has written holds back the
 * relays of all services. No network call belongs inside a transaction, so ours are idle for milliseconds. The roles have the
 * same limit, for other sessions (deploy/database/roles.sql, tools/svc/postgres/provision.ts).
 */
export const IDLE_IN_TRANSACTION_MS = 10_000;

/** A TypeORM data source for one service. Never synchronises: the schema comes from migrations alone. */
export function newDataSource(settings: DataSourceSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    url: settings.url,
    applicationName: settings.applicationName,
    entities: [...(settings.entities ?? [])],
    migrations: [...(settings.migrations ?? [])],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    poolSize: settings.poolMax ?? 10,
    connectTimeoutMS: 5_000,
    extra: {
      Client: PreparingClient,
      onConnect: refuseReadOnly,
      options: settings.planner === 'default' ? undefined : asOptions(LOOK_UP_PLANS),
      // A statement or an idle transaction that hangs would hold back the relay's horizon for all services.
      statement_timeout: 15_000,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    },
  });
}

function asOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/**
 * A session that begins while the server only reads stays read-only for its whole life, even if the server accepts writes again
 * (default_transaction_read_only of the database). It never gets into the pool. Reads are rejected too: a demoted primary may
 * lack rows of the new one, such as the revocation of a key.
 */
async function refuseReadOnly(client: pg.Client): Promise<void> {
  if (await isReadOnly(async (sql) => (await client.query<ReadOnlySetting>(sql)).rows)) throw readOnlyError();
}

/** Whether transactions of this connection cannot write, because of a setting or because the server is a standby. */
export async function isReadOnly(query: (sql: string) => Promise<ReadOnlySetting[]>): Promise<boolean> {
  const [setting] = await query('SHOW transaction_read_only');
  return setting?.transaction_read_only === 'on';
}

interface ReadOnlySetting {
  readonly transaction_read_only: string;
}
