import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of its own for one test file, on the server that `./svc test` started. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function newTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['SVC_TEST_DATABASE_URL'];
  if (!serverUrl)
    throw new Error('No PostgreSQL to test on: run the tests with ./svc test, or set SVC_TEST_DATABASE_URL.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
