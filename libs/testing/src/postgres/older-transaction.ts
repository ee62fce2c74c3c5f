import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newTestDatabase } from './test-database.js';

/** A foreign transaction that has written and stays open: it holds back every relay of its server. */
export interface OlderTransaction {
  readonly pid: number;
  readonly application: string;
  readonly database: string;
  /** May be called again. */
  end(): Promise<void>;
}

/** Opened in a database of its own, on the server of this Jest worker. */
export async function openOlderTransaction(): Promise<OlderTransaction> {
  const other = await newTestDatabase();
  const application = `report ${randomUUID()}`;
  const client = new pg.Client({ connectionString: other.url, application_name: application });
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ pid: number; database: string }>(
    'SELECT pg_backend_pid() AS pid, current_database() AS database, pg_current_xact_id()',
  );
  const { pid, database } = rows[0]!;
  let isOpen = true;
  return {
    pid,
    application,
    database,
    end: async () => {
      if (!isOpen) return;
      isOpen = false;
      await client.end();
      await other.drop();
    },
  };
}
