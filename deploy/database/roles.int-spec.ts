/**
 * Runs roles.sql, as compose and a platform team do, in a test database. Roles belong to the whole server, so the test
 * drops them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDLE_IN_TRANSACTION_MS, newDataSource } from '@svc/persistence';
import { ServiceConfig } from '@svc/service';
import { newMigratedDatabase, newTestDatabase, type TestDatabase } from '@svc/testing';
import pg from 'pg';
import { ownerRoleOf, roleOf, schemaOf } from '../../tools/svc/processes/env-files.ts';
import { SERVICES } from '../../tools/svc/settings/settings.ts';

const rolesScript = readFileSync(join(import.meta.dirname, 'roles.sql'), 'utf8');
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

test('roles.sql changes nothing if a password is missing, and the error names that password', async () => {
  await expect(superuser.query(rolesScript)).rejects.toThrow('"svc.identity_password"');
  await superuser.query(`SELECT set_config('svc.identity_password', 'x', false)`);
  await expect(superuser.query(rolesScript)).rejects.toThrow('"svc.identity_owner_password"');
  const { rows } = await superuser.query(`SELECT FROM pg_namespace WHERE nspname = 'identity'`);
  expect(rows).toEqual([]);
});

test('an owner creates tables that its service reads and writes, and neither can access other schemas', async () => {
  await runRolesScript('a-password');
  for (const service of SERVICES) {
    const owner = await connect(newUrl(ownerRoleOf(service), 'a-password'));
    const serviceClient = await connect(newUrl(roleOf(service), 'a-password'));
    try {
      await owner.query('CREATE TABLE items (id int); CREATE SEQUENCE numbers');
      await serviceClient.query(`INSERT INTO items VALUES (nextval('numbers'))`);
      await serviceClient.query('UPDATE items SET id = 2');
      expect((await serviceClient.query('DELETE FROM items RETURNING id')).rows).toEqual([{ id: 2 }]);
      for (const statement of [
        'DROP TABLE items',
        'ALTER TABLE items ADD COLUMN note int',
        'ALTER SEQUENCE numbers RESTART',
      ])
        await expect(serviceClient.query(statement)).rejects.toThrow('must be owner of');
      for (const statement of ['TRUNCATE items', 'CREATE TABLE other_items (id int)', `SELECT setval('numbers', 1)`])
        await expect(serviceClient.query(statement)).rejects.toThrow('permission denied for');
      await expect(serviceClient.query(`SET ROLE ${ownerRoleOf(service)}`)).rejects.toThrow(
        'permission denied to set role',
      );

      const otherSchemas = SERVICES.filter((name) => name !== service).map(schemaOf);
      for (const role of [owner, serviceClient]) {
        const { rows } = await role.query('SELECT current_schema() AS schema');
        expect(rows).toEqual([{ schema: schemaOf(service) }]);
        for (const schema of [...otherSchemas, 'public']) {
          await expect(role.query(`CREATE TABLE ${schema}.items (id int)`)).rejects.toThrow('permission denied');
          await expect(role.query(`SELECT * FROM ${schema}.items`)).rejects.toThrow('permission denied');
        }
        await expect(role.query('CREATE SCHEMA other_schema')).rejects.toThrow('permission denied');
      }
    } finally {
      await owner.end();
      await serviceClient.end();
    }
  }
});

test('roles.sql does not restore revoked privileges, even if the service has created objects itself', async () => {
  await runRolesScript('a-password');
  const [service] = SERVICES;
  const owner = await connect(newUrl(ownerRoleOf(service), 'a-password'));
  await owner.query(`CREATE TABLE ledger (id int); REVOKE UPDATE, DELETE ON ledger FROM ${roleOf(service)}`);
  await owner.end();
  const serviceClient = await connect(newUrl(roleOf(service), 'a-password'));
  await serviceClient.query('SELECT lo_create(0)');
  await serviceClient.query(`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${roleOf(service)}`);
  await runRolesScript('a-password');
  await expect(serviceClient.query('DELETE FROM ledger')).rejects.toThrow('permission denied');
  await serviceClient.end();
});

test('a service gets the same default privileges on objects of migrations as in test databases', async () => {
  const definition = { name: 'example', config: ServiceConfig, module: class {}, migrations: [] };
  const testDatabase = await newMigratedDatabase(definition);
  const client = await connect(testDatabase.superuserUrl);
  try {
    const privilegesInTests = await readDefaultPrivileges(client, 'tested_example');
    expect(privilegesInTests.length).toBeGreaterThan(0);
    for (const service of SERVICES)
      expect(await readDefaultPrivileges(superuser, roleOf(service))).toEqual(privilegesInTests);
  } finally {
    await client.end();
    await testDatabase.drop();
  }
});

/** Reads the privileges that the owner of a schema grants by default: kind of object and privilege. */
async function readDefaultPrivileges(client: pg.Client, role: string): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT defaclobjtype AS kind, privilege_type AS privilege FROM pg_default_acl, aclexplode(defaclacl)
      WHERE defaclrole = $1::regrole AND grantee = $2::regrole ORDER BY 1, 2`,
    [`${role}_owner`, role],
  );
  return rows;
}

test('each role has the settings that its program sets when it connects, because a pooler does not pass them on', async () => {
  for (const service of SERVICES)
    for (const purpose of ['look-ups', 'migrations'] as const) {
      const url = newUrl(purpose === 'migrations' ? ownerRoleOf(service) : roleOf(service), 'a-password');
      const dataSource = await newDataSource({ url, applicationName: 'test', purpose }).initialize();
      const ofProgram = await dataSource.query<object[]>(READ_SETTINGS);
      await dataSource.destroy();
      const client = await connect(url);
      const { rows: ofRole } = await client.query<object>(READ_SETTINGS);
      await client.end();
      expect(ofRole).toEqual(ofProgram);
      const idleTimeout = ofRole.find((row) => (row as { name: string }).name.startsWith('idle_in_transaction'));
      expect(idleTimeout).toMatchObject({ setting: String(IDLE_IN_TRANSACTION_MS) });
    }
});

const READ_SETTINGS = `SELECT name, setting FROM pg_settings
  WHERE name LIKE 'enable\\_%' OR name LIKE '%\\_timeout' OR name IN ('plan_cache_mode', 'jit') ORDER BY name`;

test('roles.sql can be run again, and then sets the new passwords', async () => {
  await runRolesScript('another-password');
  const client = await connect(newUrl('svc_identity', 'another-password'));
  await expect(client.query('SELECT * FROM items')).resolves.toMatchObject({ rows: [] });
  await client.end();
  const { rows } = await superuser.query<{ isRestricted: boolean }>(
    `SELECT rolpassword IS NOT NULL AND NOT rolsuper AND NOT rolinherit AS "isRestricted" FROM pg_authid WHERE rolname LIKE 'svc\\_%'`,
  );
  expect(rows).toEqual(ROLES.map(() => ({ isRestricted: true })));
});

test('roles.sql stops with a lock timeout instead of blocking the services', async () => {
  const other = await connect(database.url);
  try {
    await other.query('BEGIN; GRANT USAGE ON SCHEMA identity TO svc_identity');
    await expect(superuser.query(rolesScript)).rejects.toThrow('lock timeout');
  } finally {
    await other.end();
  }
  await superuser.query(rolesScript);
});

async function runRolesScript(password: string): Promise<void> {
  for (const role of ROLES)
    await superuser.query('SELECT set_config($1, $2, false)', [`${role.replace('svc_', 'svc.')}_password`, password]);
  await superuser.query(rolesScript);
}

function newUrl(role: string, password: string): string {
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
