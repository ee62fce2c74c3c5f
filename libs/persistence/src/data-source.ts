import pg from 'pg';
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import { LOOKUP_PLANNER_SETTINGS } from './planner-settings.js';
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
  /** Maximum connections of this process; replicas × pools must stay below the server's max_connections. */
  readonly poolMax?: number;
  /** Look-ups by key, unless it says `default`: PostgreSQL's own planner settings, for migrations, which may join whole tables. */
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
 * The server ends a session that is idle in a transaction for this time. An open transaction that has written delays the relays of
 * all services. Transactions contain no network calls, so ours are idle for milliseconds only. The roles have the same limit, for
 * sessions that are not opened here (deploy/database/roles.sql, tools/svc/postgres/provision.ts).
 */
export const IDLE_IN_TRANSACTION_MS = 10_000;

/** A TypeORM data source for one service. Never synchronises: only migrations change the schema. */
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
      options: settings.planner === 'default' ? undefined : asOptions(LOOKUP_PLANNER_SETTINGS),
      // A hanging statement or idle transaction would delay the relays of all services.
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
 * Rejects a read-only session before it gets into the pool. A session that begins while the server is read-only stays read-only,
 * also when the server accepts writes again (default_transaction_read_only of the database). Reads are refused as well, because
 * a demoted primary may miss newer data, for example the revocation of a key.
 */
async function refuseReadOnly(client: pg.Client): Promise<void> {
  if (await isReadOnly(async (sql) => (await client.query<ReadOnlySetting>(sql)).rows)) throw readOnlyError();
}

/** Whether a transaction of this connection could not write, because of a setting or because the server is a standby. */
export async function isReadOnly(query: (sql: string) => Promise<ReadOnlySetting[]>): Promise<boolean> {
  const [setting] = await query('SHOW transaction_read_only');
  return setting?.transaction_read_only === 'on';
}

interface ReadOnlySetting {
  readonly transaction_read_only: string;
}
