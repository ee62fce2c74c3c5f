import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newTestDatabase } from './test-database.js';

/**
 * An open transaction in another database of the server. It has a transaction id, so the seals of the ledger and the feed of
 * notifications wait until it ends. `await using` ends it at the end of its scope.
 */
export interface OlderTransaction extends AsyncDisposable {
  readonly pid: number;
  readonly application: string;
  readonly database: string;
  /** May be called again. */
  end(): Promise<void>;
}

/** Opens the transaction in a new database, on the PostgreSQL server of this Jest worker. */
export async function openOlderTransaction(): Promise<OlderTransaction> {
  const testDatabase = await newTestDatabase();
  const application = `report ${randomUUID()}`;
  const client = new pg.Client({ connectionString: testDatabase.url, application_name: application });
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ pid: number; database: string }>(
    'SELECT pg_backend_pid() AS pid, current_database() AS database, pg_current_xact_id()',
  );
  const { pid, database } = rows[0]!;
  let isOpen = true;
  const end = async () => {
    if (!isOpen) return;
    isOpen = false;
    await client.end();
    await testDatabase.drop();
  };
  return { pid, application, database, end, [Symbol.asyncDispose]: end };
}
