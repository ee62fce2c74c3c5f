import { createHash, randomBytes } from 'node:crypto';
import { messagingMigrations } from '@svc/messaging';
import { newDataSource } from '@svc/persistence';
import { migrateService, type ServiceConfig, type ServiceDefinition } from '@svc/service';
import pg from 'pg';
import type { QueryRunner } from 'typeorm';

/** A database for one test file, on the server of the Jest worker that runs the file. */
export interface TestDatabase {
  /**
   * The user in the URL of an empty database is the superuser. The user in the URL of a migrated database is the role
   * of the service, which owns no tables (ADR 45).
   */
  readonly url: string;
  /**
   * URL for actions that the role of the service may not do: ALTER TABLE, statistics, changes of append-only tables.
   */
  readonly superuserUrl: string;
  drop(): Promise<void>;
}

/** PostgreSQL's codes for a database that exists already, and for one that does not exist. */
const DUPLICATE_DATABASE = '42P04';
const UNKNOWN_DATABASE = '3D000';
/** Password of the roles on a test server. It needs no protection, because the server only listens on loopback. */
const PASSWORD = 'tested';

/** Creates an empty database. */
export async function newTestDatabase(): Promise<TestDatabase> {
  const name = randomName('test');
  await onServer(`CREATE DATABASE ${name}`);
  return testDatabase(name);
}

/**
 * Creates a database with all migrations of the service. It is a clone of a template, which the first caller on this
 * server creates, because a clone takes about 50 ms, and the migrations take half a second.
 */
export async function newMigratedDatabase<C extends ServiceConfig>(
  definition: ServiceDefinition<C>,
): Promise<TestDatabase> {
  const role = roleOf(definition);
  const name = await clone(await templateName(`${definition.name}_owned`, definition.migrations), async (template) => {
    await separateOwner(template, role);
    await migrateService(definition, { SVC_DATABASE_URL: urlOf(template, ownerOf(role)) });
  });
  return testDatabase(name, role);
}

/** Creates a database with only the migrations of `libs/messaging`, which the superuser owns. */
export async function newMessagingDatabase(): Promise<TestDatabase> {
  const name = await clone(await templateName('messaging', []), async (template) => {
    const settings = { url: urlOf(template), applicationName: 'migrations', migrations: messagingMigrations };
    const dataSource = await newDataSource(settings).initialize();
    try {
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      await dataSource.destroy();
    }
  });
  return testDatabase(name);
}

/** Clones the template. Creates the template if it does not exist. Returns the name of the clone. */
async function clone(template: string, migrate: (database: string) => Promise<void>): Promise<string> {
  const name = randomName('test');
  const createClone = () => onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  try {
    await createClone();
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_DATABASE) throw error;
    await createTemplate(template, migrate);
    await createClone();
  }
  return name;
}

/**
 * Creates the template under a temporary name and renames it when it is complete, so that an interrupted run leaves no
 * incomplete template.
 */
async function createTemplate(name: string, migrate: (database: string) => Promise<void>): Promise<void> {
  const temporaryName = randomName('test');
  await onServer(`CREATE DATABASE ${temporaryName}`);
  try {
    await migrate(temporaryName);
    await onServer(`ALTER DATABASE ${temporaryName} RENAME TO ${name}`);
  } catch (error) {
    await testDatabase(temporaryName).drop();
    if (codeOf(error) !== DUPLICATE_DATABASE) throw error;
  }
}

/**
 * Creates the owner of the schema and the role of the service, which owns nothing, as deploy/database/roles.sql does. So
 * the tests of a service fail if a migration forgets to grant a privilege. The roles are not dropped, because they
 * belong to the server.
 */
async function separateOwner(database: string, role: string): Promise<void> {
  const owner = ownerOf(role);
  for (const name of [role, owner])
    await onServer(`DO $$ BEGIN CREATE ROLE ${name} LOGIN NOINHERIT PASSWORD '${PASSWORD}';
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
  await query(
    urlOf(database),
    `ALTER SCHEMA public OWNER TO ${owner};
     REVOKE ALL ON SCHEMA public FROM PUBLIC;
     GRANT USAGE ON SCHEMA public TO ${role};
     ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role};
     ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA public GRANT USAGE ON SEQUENCES TO ${role};`,
  );
}

/** Name of the role. It differs from the names that ./svc uses, because tests of ./svc drop the roles of ./svc. */
function roleOf({ name }: { readonly name: string }): string {
  return `tested_${name.toLowerCase().replaceAll(/\W/g, '_')}`;
}

function ownerOf(role: string): string {
  return `${role}_owner`;
}

/** Name of the template. It contains a hash of the migrations' SQL, so that changed migrations get a new template. */
async function templateName(name: string, migrations: ServiceDefinition<ServiceConfig>['migrations']): Promise<string> {
  const hash = createHash('sha256');
  const query = (sql: string): Promise<[]> => {
    hash.update(sql);
    return Promise.resolve([]);
  };
  for (const Migration of [...messagingMigrations, ...migrations]) {
    hash.update(Migration.name);
    await new Migration().up({ query } as unknown as QueryRunner);
  }
  return `template_${name.replaceAll(/\W/g, '_')}_${hash.digest('hex').slice(0, 16)}`;
}

function testDatabase(name: string, role?: string): TestDatabase {
  return {
    url: urlOf(name, role),
    superuserUrl: urlOf(name),
    drop: async () => {
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}

function randomName(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}

function urlOf(database: string, role?: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  if (role !== undefined) [url.username, url.password] = [role, PASSWORD];
  return url.href;
}

/**
 * `./svc test` starts a separate server for each Jest worker, because the event relays of a server wait for its open
 * transactions.
 */
function serverUrl(): string {
  const urls = (process.env['SVC_TEST_DATABASE_URLS'] ?? '').split(' ').filter((url) => url !== '');
  const worker = Number(process.env['JEST_WORKER_ID'] ?? 1);
  const url = urls[(worker - 1) % urls.length];
  if (url === undefined)
    throw new Error('No PostgreSQL to test on: run the tests with ./svc test, or set SVC_TEST_DATABASE_URLS.');
  return url;
}

function onServer(statement: string, values: string[] = []): Promise<pg.QueryResult> {
  return query(serverUrl(), statement, values);
}

async function query(connectionString: string, statement: string, values?: string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await client.query(statement, values);
  } finally {
    await client.end();
  }
}
