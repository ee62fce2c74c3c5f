/** Runs roles.sql like compose and a platform team, but in a database of this test. Roles belong to the server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDLE_IN_TRANSACTION_MS } from '@svc/persistence';
import { ServiceConfig } from '@svc/service';
import { newMigratedDatabase, newTestDatabase, type TestDatabase } from '@svc/testing';
import pg from 'pg';
import { ownerRoleOf, roleOf, schemaOf } from '../../tools/svc/processes/env-files.ts';
import { SERVICES } from '../../tools/svc/base/settings.ts';

const sql = readFileSync(join(import.meta.dirname, 'roles.sql'), 'utf8');
const ROLES = SERVICES.flatMap((service) => [roleOf(service), ownerRoleOf(service)]);
let database: TestDatabase;
let superuser: pg.Client;

beforeAll(async () => {
  database = await newTestDatabase();
  superuser = await connect(database.url);
});
afterAll(async () => {
  await superuser.query(ROLES.map((role) => `DROP OWNED BY ${role} CASCADE;`).join(''));
  await superuser.query(ROLES.map((role) => `DROP ROLE ${role};`).join(''));
  await superuser.end();
  await database.drop();
});

test('without every password it changes nothing and names the missing one', async () => {
  await expect(superuser.query(sql)).rejects.toThrow('"svc.identity_password"');
  await superuser.query(`SELECT set_config('svc.identity_password', 'x', false)`);
  await expect(superuser.query(sql)).rejects.toThrow('"svc.identity_owner_password"');
  const { rows } = await superuser.query(`SELECT FROM pg_namespace WHERE nspname = 'identity'`);
  expect(rows).toEqual([]);
});

test('each owner creates tables in its schema; the service reads and writes them, and neither sees any other schema', async () => {
  await runWith('a-password');
  for (const service of SERVICES) {
    const owner = await connect(urlOf(ownerRoleOf(service), 'a-password'));
    const client = await connect(urlOf(roleOf(service), 'a-password'));
    try {
      await owner.query('CREATE TABLE kept (id int); CREATE SEQUENCE numbers');
      await client.query(`INSERT INTO kept VALUES (nextval('numbers'))`);
      await client.query('UPDATE kept SET id = 2');
      expect((await client.query('DELETE FROM kept RETURNING id')).rows).toEqual([{ id: 2 }]);
      for (const statement of [
        'DROP TABLE kept',
        'ALTER TABLE kept ADD COLUMN more int',
        'ALTER SEQUENCE numbers RESTART',
      ])
        await expect(client.query(statement)).rejects.toThrow('must be owner of');
      for (const statement of ['TRUNCATE kept', 'CREATE TABLE more (id int)', `SELECT setval('numbers', 1)`])
        await expect(client.query(statement)).rejects.toThrow('permission denied for');
      await expect(client.query(`SET ROLE ${ownerRoleOf(service)}`)).rejects.toThrow('permission denied to set role');

      const foreign = SERVICES.filter((other) => other !== service).map(schemaOf);
      for (const role of [owner, client]) {
        const { rows } = await role.query('SELECT current_schema() AS schema');
        expect(rows).toEqual([{ schema: schemaOf(service) }]);
        for (const schema of [...foreign, 'public']) {
          await expect(role.query(`CREATE TABLE ${schema}.mine (id int)`)).rejects.toThrow('permission denied');
          await expect(role.query(`SELECT * FROM ${schema}.kept`)).rejects.toThrow('permission denied');
        }
        await expect(role.query('CREATE SCHEMA more')).rejects.toThrow('permission denied');
      }
    } finally {
      await owner.end();
      await client.end();
    }
  }
});

test('objects that the service creates itself do not restore its privileges on an append-only table', async () => {
  await runWith('a-password');
  const [service] = SERVICES;
  const owner = await connect(urlOf(ownerRoleOf(service), 'a-password'));
  await owner.query(`CREATE TABLE books (id int); REVOKE UPDATE, DELETE ON books FROM ${roleOf(service)}`);
  await owner.end();
  const client = await connect(urlOf(roleOf(service), 'a-password'));
  await client.query('SELECT lo_create(0)');
  await client.query(`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${roleOf(service)}`);
  await runWith('a-password');
  await expect(client.query('DELETE FROM books')).rejects.toThrow('permission denied');
  await client.end();
});

test('the service gets the same privileges on migrated objects as in test databases', async () => {
  const definition = { name: 'given', config: ServiceConfig, module: class {}, migrations: [] };
  const tested = await newMigratedDatabase(definition);
  const client = await connect(tested.superuserUrl);
  try {
    const inTests = await defaultPrivilegesOf(client, 'tested_given');
    expect(inTests.length).toBeGreaterThan(0);
    for (const service of SERVICES) expect(await defaultPrivilegesOf(superuser, roleOf(service))).toEqual(inTests);
  } finally {
    await client.end();
    await tested.drop();
  }
});

/** The owner's default privileges: kind of object and privilege. */
async function defaultPrivilegesOf(client: pg.Client, role: string): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT defaclobjtype AS kind, privilege_type AS privilege FROM pg_default_acl, aclexplode(defaclacl)
      WHERE defaclrole = $1::regrole AND grantee = $2::regrole ORDER BY 1, 2`,
    [`${role}_owner`, role],
  );
  return rows;
}

test('the server ends an idle transaction of a role', async () => {
  for (const role of ROLES) {
    const client = await connect(urlOf(role, 'a-password'));
    const { rows } = await client.query('SHOW idle_in_transaction_session_timeout');
    await client.end();
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS / 1000}s` }]);
  }
});

test('it can be repeated, and then sets the new passwords', async () => {
  await runWith('another-password');
  const client = await connect(urlOf('svc_identity', 'another-password'));
  await expect(client.query('SELECT * FROM kept')).resolves.toMatchObject({ rows: [] });
  await client.end();
  const { rows } = await superuser.query<{ kept: boolean }>(
    `SELECT rolpassword IS NOT NULL AND NOT rolsuper AND NOT rolinherit AS kept FROM pg_authid WHERE rolname LIKE 'svc\\_%'`,
  );
  expect(rows).toEqual(ROLES.map(() => ({ kept: true })));
});

test('it aborts rather than block services with a lock', async () => {
  await superuser.query('ALTER SCHEMA identity OWNER TO svc_identity; ALTER TABLE identity.kept OWNER TO svc_identity');
  const reader = await connect(database.url);
  try {
    await reader.query('BEGIN; SELECT FROM identity.kept');
    await expect(superuser.query(sql)).rejects.toThrow('lock timeout');
  } finally {
    await reader.end();
  }
  await superuser.query(sql);
  const { rows } = await superuser.query(
    `SELECT tableowner FROM pg_tables WHERE schemaname = 'identity' AND tablename = 'kept'`,
  );
  expect(rows).toEqual([{ tableowner: 'svc_identity_owner' }]);
});

async function runWith(password: string): Promise<void> {
  for (const role of ROLES)
    await superuser.query('SELECT set_config($1, $2, false)', [`${role.replace('svc_', 'svc.')}_password`, password]);
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
