import pg from 'pg';
import { roleOf, schemaOf } from './env-files.ts';
import type { Secrets } from './secrets.ts';
import { SERVICES } from './settings.ts';
import { SvcError } from './svc-error.ts';

export const DATABASE = 'svc';

/**
 * The database, and for each service a role that owns one schema and sees no other. Every statement may be repeated:
 * it runs at each start, so a service that is new, or a password that was made anew, needs nothing else.
 */
export async function provision(superuserUrl: string, secrets: Secrets): Promise<string> {
  await withClient(superuserUrl, async (server) => {
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await server.query(`CREATE DATABASE ${DATABASE}`);
    await server.query(`REVOKE ALL ON DATABASE ${DATABASE}, postgres, template1 FROM PUBLIC`);
    for (const service of SERVICES) {
      await server.query(roleStatements(roleOf(service), schemaOf(service), secrets.rolePasswords[service]));
    }
  });
  await withClient(superuserUrl.replace(/\/postgres$/, `/${DATABASE}`), async (database) => {
    await database.query('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    for (const service of SERVICES) {
      await database.query(`CREATE SCHEMA IF NOT EXISTS ${schemaOf(service)} AUTHORIZATION ${roleOf(service)}`);
      await database.query(`REVOKE ALL ON SCHEMA ${schemaOf(service)} FROM PUBLIC`);
    }
  });
  return `database ${DATABASE}, a role and a schema for each service`;
}

function roleStatements(role: string, schema: string, password: string): string {
  return `
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role}; END IF;
    END $$;
    ALTER ROLE ${role} WITH LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
      PASSWORD ${pg.escapeLiteral(password)};
    ALTER ROLE ${role} IN DATABASE ${DATABASE} SET search_path = ${schema};
    ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '10s';
    GRANT CONNECT ON DATABASE ${DATABASE} TO ${role};
  `;
}

/** Throws an SvcError that says why it could not be done. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, statement_timeout: 30_000 });
  client.on('error', () => undefined); // A lost connection fails the query that runs; without a listener it ends the process.
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw new SvcError(`the database could not be set up: ${(error as Error).message}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}
