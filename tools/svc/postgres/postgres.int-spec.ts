import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ownerRoleOf, roleOf } from '../processes/env-files.ts';
import { findFreePort, requireFreePorts } from '../processes/ports.ts';
import { completeSecrets } from '../settings/secrets.ts';
import { SERVICES } from '../settings/settings.ts';
import { isMigrated, markMigrated, migrationsDigest } from './migrations-state.ts';
import { type PostgresPlan, startPostgres } from './postgres.ts';
import { findPostgres, stopPostgres } from './postgres-process.ts';
import { provision } from './provision.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const secrets = completeSecrets(undefined, countingSecrets());

// These tests create, kill and recover durable servers, which takes longer on a busy disk.
describe("PostgreSQL of the project's own", () => {
  let folder: string;
  let plan: PostgresPlan;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc pg-')); // Mode 700; the space in the path is intended.
    plan = {
      root,
      directory: join(folder, 'postgres'),
      port: await findFreePort(),
      password: secrets.postgresPassword,
      logFile: join(folder, 'log', 'postgres.log'),
      durable: true, // A killed server must not lose committed rows.
    };
  });

  afterAll(async () => {
    await stopPostgres(plan.directory);
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (service: (typeof SERVICES)[number]) =>
    `postgres://${roleOf(service)}:${secrets.rolePasswords[service]}@127.0.0.1:${plan.port}/svc`;
  const ownerUrlOf = (service: (typeof SERVICES)[number]) =>
    `postgres://${ownerRoleOf(service)}:${secrets.ownerPasswords[service]}@127.0.0.1:${plan.port}/svc`;

  it('is created and started, and found again by the next start', async () => {
    expect((await startPostgres(plan)).description).toMatch(/^created and started on/);
    const first = findPostgres(plan.directory);
    expect((await startPostgres(plan)).description).toMatch(/^runs on/);
    expect(findPostgres(plan.directory)).toEqual(first);
  });

  it('keeps committed rows after a kill -9 of the server', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await query(superuserUrl, 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)');
    process.kill(findPostgres(plan.directory)?.pid ?? 0, 'SIGKILL');
    await startPostgres(plan);
    expect(await query(superuserUrl, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
  });

  it('starts although its stale process file has the id of another process, and does not stop that process', async () => {
    await stopPostgres(plan.directory);
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      writeFileSync(
        join(plan.directory, 'postmaster.pid'),
        `${stranger.pid}\n${plan.directory}\n1\n${plan.port}\n\n127.0.0.1\n 1 1\nready\n`,
      );
      expect(findPostgres(plan.directory)).toBeUndefined();
      expect((await startPostgres(plan)).description).toMatch(/^started on/);
      expect(stranger.exitCode).toBeNull();
      expect(stranger.signalCode).toBeNull();
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('moves to another port', async () => {
    const port = await findFreePort();
    await startPostgres({ ...plan, port });
    expect(findPostgres(plan.directory)?.port).toBe(port);
    await startPostgres(plan);
    expect(findPostgres(plan.directory)?.port).toBe(plan.port);
  });

  it('makes requireFreePorts fail for its port', async () => {
    await startPostgres(plan);
    await expect(requireFreePorts({ 'the API': plan.port })).rejects.toThrow(
      new RegExp(`port ${plan.port} for the API .* is in use by`),
    );
  });

  it('reports a wrong password', async () => {
    await startPostgres(plan);
    await expect(startPostgres({ ...plan, password: 'another-password-entirely' })).rejects.toThrow(/secrets\.json/);
  });

  it.each([
    ['a folder that is not a cluster', undefined, /no PG_VERSION/],
    ['a cluster of another major version', '15\n', /created by PostgreSQL 15/],
  ])('rejects %s and does not change it', async (_what, version, message) => {
    const directory = join(folder, 'other');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (version !== undefined) writeFileSync(join(directory, 'PG_VERSION'), version);
    try {
      await expect(startPostgres({ ...plan, directory, port: await findFreePort() })).rejects.toThrow(message);
      expect(existsSync(directory)).toBe(true);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('reports why a damaged cluster does not start', async () => {
    await stopPostgres(plan.directory);
    const control = join(plan.directory, 'global', 'pg_control');
    const whole = readFileSync(control);
    writeFileSync(control, whole.subarray(0, 100));
    await expect(startPostgres(plan)).rejects.toThrow(/did not start: .*pg_control/);
    writeFileSync(control, whole);
    await startPostgres(plan);
  });

  it('gives each service a schema that no other can read, also when it runs again', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    await provision(superuserUrl, secrets);
    expect(await query(urlOf('identity'), 'SHOW idle_in_transaction_session_timeout')).toEqual([
      { idle_in_transaction_session_timeout: '10s' },
    ]);
    await query(ownerUrlOf('identity'), 'CREATE TABLE keys (id int)');
    expect(
      await query(
        superuserUrl.replace(/postgres$/, 'svc'),
        "SELECT schemaname FROM pg_tables WHERE tablename = 'keys'",
      ),
    ).toEqual([{ schemaname: 'identity' }]);
    for (const service of SERVICES.filter((name) => name !== 'identity')) {
      for (const url of [urlOf(service), ownerUrlOf(service)])
        await expect(query(url, 'SELECT * FROM identity.keys')).rejects.toThrow(
          /permission denied for schema identity/,
        );
      await expect(query(urlOf(service), 'CREATE TABLE public.mine (id int)')).rejects.toThrow(
        /permission denied for schema public/,
      );
      await expect(query(urlOf(service).replace(/svc$/, 'postgres'), 'SELECT 1')).rejects.toThrow(
        /permission denied for database/,
      );
    }
  });

  it('gives the data of a release whose services owned their tables to the owners, and the services read and write it', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    const role = roleOf('code-decoder');
    await query(
      superuserUrl.replace(/postgres$/, 'svc'),
      `ALTER SCHEMA code_decoder OWNER TO ${role}; SET ROLE ${role}; SET search_path = code_decoder;
       CREATE TABLE codes (nr int GENERATED ALWAYS AS IDENTITY, code text);
       CREATE SEQUENCE numbers; CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';
       INSERT INTO codes (code) VALUES ('kept')`,
    );
    await query(urlOf('code-decoder'), 'CREATE TABLE mine ()');
    await provision(superuserUrl, secrets);
    const insert = `INSERT INTO codes (code) VALUES ('new') RETURNING nr, nextval('numbers')::int AS number, one()`;
    expect(await query(urlOf('code-decoder'), insert)).toEqual([{ nr: 2, number: 1, one: 1 }]);
    expect(await query(urlOf('code-decoder'), 'SELECT code FROM codes ORDER BY nr')).toEqual([
      { code: 'kept' },
      { code: 'new' },
    ]);
    for (const statement of ['DROP TABLE codes', 'ALTER TABLE codes ADD COLUMN more int', 'DROP FUNCTION one'])
      await expect(query(urlOf('code-decoder'), statement)).rejects.toThrow('must be owner of');
    await expect(query(urlOf('code-decoder'), 'TRUNCATE codes')).rejects.toThrow('permission denied');
    await expect(query(urlOf('code-decoder'), 'CREATE TABLE more ()')).rejects.toThrow('permission denied for schema');
    await query(ownerUrlOf('code-decoder'), 'ALTER TABLE codes ADD COLUMN more int; DROP TABLE codes, mine');
  });

  it('is migrated when its comment lists exactly these migrations, and no schema was dropped since', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    const databases = { superuserUrl: superuserUrl.replace(/postgres$/, 'svc'), ownerUrls: SERVICES.map(ownerUrlOf) };
    const digest = migrationsDigest(root);
    expect(await isMigrated(databases, digest)).toBe(false);
    for (const service of SERVICES) await query(ownerUrlOf(service), 'CREATE TABLE migrations ()');
    expect(await isMigrated(databases, digest)).toBe(false);
    await markMigrated(databases, digest);
    expect(await isMigrated(databases, digest)).toBe(true);
    expect(await isMigrated(databases, digest.replace(/.$/, 'x'))).toBe(false);
    // As after a backup of an earlier release.
    await query(ownerUrlOf('identity'), 'INSERT INTO migrations DEFAULT VALUES');
    expect(await isMigrated(databases, digest)).toBe(false);
    await query(ownerUrlOf('identity'), 'DROP TABLE migrations');
    expect(await isMigrated(databases, digest)).toBe(false);
  });

  it('is checked as the owner of each schema, so that no code of a schema runs as the superuser', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    const databases = { superuserUrl: superuserUrl.replace(/postgres$/, 'svc'), ownerUrls: SERVICES.map(ownerUrlOf) };
    for (const service of SERVICES)
      await query(ownerUrlOf(service), 'DROP TABLE IF EXISTS migrations; CREATE TABLE migrations ()');
    await query(
      ownerUrlOf('identity'),
      `DROP TABLE migrations; CREATE TABLE seen (by name);
       CREATE FUNCTION spy() RETURNS SETOF int LANGUAGE plpgsql AS 'BEGIN INSERT INTO identity.seen VALUES (current_user); RETURN NEXT 1; END';
       CREATE VIEW migrations AS SELECT * FROM spy()`,
    );
    await markMigrated(databases, migrationsDigest(root));
    expect(await isMigrated(databases, migrationsDigest(root))).toBe(true);
    expect(await query(ownerUrlOf('identity'), 'SELECT DISTINCT by FROM seen')).toEqual([{ by: 'svc_identity_owner' }]);
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // The server is killed on purpose.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function countingSecrets(): () => string {
  let count = 0;
  return () => `secret-number-${++count}-padded`;
}
