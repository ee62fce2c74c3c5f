import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { SvcError } from '../base/svc-error.ts';
import { schemaOf } from '../processes/env-files.ts';
import type { Secrets } from '../settings/secrets.ts';
import { SERVICES } from '../settings/settings.ts';

export const DATABASE = 'svc';

/** Creates the roles and schemas; production uses the same file. */
const ROLES = join(import.meta.dirname, '../../../deploy/database/roles.sql');

/**
 * Creates the database, and for each service a schema with its two roles. Every statement is idempotent and runs at
 * each start. This also adds a new service and changes passwords.
 */
export async function provision(superuserUrl: string, secrets: Secrets): Promise<string> {
  await withClient(superuserUrl, async (server) => {
    const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await server.query(`CREATE DATABASE ${DATABASE}`);
    await server.query('REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC');
  });
  await withClient(superuserUrl.replace(/\/postgres$/, `/${DATABASE}`), async (database) => {
    // roles.sql reads the passwords from these settings of the session.
    const passwords = SERVICES.flatMap((service) => [
      [`svc.${schemaOf(service)}_password`, secrets.rolePasswords[service]],
      [`svc.${schemaOf(service)}_owner_password`, secrets.ownerPasswords[service]],
    ]);
    await database.query(
      'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS settings (name, value)',
      [passwords.map(([name]) => name), passwords.map(([, value]) => value)],
    );
    await database.query(readFileSync(ROLES, 'utf8'));
  });
  return `database ${DATABASE}, a schema and two roles for each service`;
}

/** @throws SvcError when the action fails */
export async function withClient<T>(url: string, action: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, statement_timeout: 30_000 });
  client.on('error', () => undefined); // Without a listener, a lost connection would end the process.
  try {
    await client.connect();
    return await action(client);
  } catch (error) {
    throw new SvcError(`the database could not be set up: ${(error as Error).message}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}
