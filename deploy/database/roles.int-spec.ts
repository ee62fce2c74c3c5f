/** Runs roles.sql as compose and a platform team do, but in a database of the test's own. Roles belong to the server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDLE_IN_TRANSACTION_MS } from '@svc/persistence';
import { newTestDatabase, type TestDatabase } from '@svc/testing';
import pg from 'pg';
import { roleOf, schemaOf } from '../../tools/svc/env-files.ts';
import { SERVICES } from '../../tools/svc/settings.ts';

const sql = readFileSync(join(import.meta.dirname, 'roles.sql'), 'utf8');
let database: TestDatabase;
let superuser: pg.Client;

beforeAll(async () => {
  database = await newTestDatabase();
  superuser = await connect(database.url);
});
afterAll(async () => {
  await superuser.query(SERVICES.map((service) => `DROP OWNED BY ${roleOf(service)};`).join(''));
  await superuser.query(SERVICES.map((service) => `DROP ROLE ${roleOf(service)};`).join(''));
  await superuser.end();
  await database.drop();
});

test('without every password it changes nothing and says which is missing', async () => {
  await expect(superuser.query(sql)).rejects.toThrow('"svc.identity_password"');
  const { rows } = await superuser.query(`SELECT FROM pg_namespace WHERE nspname = 'identity'`);
  expect(rows).toEqual([]);
});

test('each role owns its schema, and cannot read, or write in, any other', async () => {
  await runWith('a-password');
  for (const service of SERVICES) {
    const client = await connect(urlOf(roleOf(service), 'a-password'));
    try {
      await client.query('CREATE TABLE kept (id int)');
      const { rows } = await client.query('SELECT current_schema() AS schema');
      expect(rows).toEqual([{ schema: schemaOf(service) }]);
      const foreign = SERVICES.filter((other) => other !== service).map(schemaOf);
      for (const schema of [...foreign, 'public']) {
        await expect(client.query(`CREATE TABLE ${schema}.mine (id int)`)).rejects.toThrow('permission denied');
        await expect(client.query(`SELECT * FROM ${schema}.kept`)).rejects.toThrow('permission denied');
      }
      await expect(client.query('CREATE SCHEMA more')).rejects.toThrow('permission denied');
    } finally {
      await client.end();
    }
  }
});

test('a session of a role that leaves a transaction open is ended by the server', async () => {
  for (const service of SERVICES) {
    const client = await connect(urlOf(roleOf(service), 'a-password'));
    const { rows } = await client.query('SHOW idle_in_transaction_session_timeout');
    await client.end();
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS / 1000}s` }]);
  }
});

test('it may be repeated, and then the new passwords count', async () => {
  await runWith('another-password');
  const client = await connect(urlOf('svc_identity', 'another-password'));
  await expect(client.query('SELECT * FROM kept')).resolves.toMatchObject({ rows: [] });
  await client.end();
  const { rows } = await superuser.query<{ kept: boolean }>(
    `SELECT rolpassword IS NOT NULL AND NOT rolsuper AND NOT rolinherit AS kept FROM pg_authid WHERE rolname LIKE 'svc\\_%'`,
  );
  expect(rows).toEqual(SERVICES.map(() => ({ kept: true })));
});

async function runWith(password: string): Promise<void> {
  for (const service of SERVICES) {
    await superuser.query('SELECT set_config($1, $2, false)', [`svc.${schemaOf(service)}_password`, password]);
  }
  await superuser.query(sql);
}

function urlOf(role: string, password: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = password;
  return url.href;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  return client;
}
