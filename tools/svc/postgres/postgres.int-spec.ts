import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
const secrets = completeSecrets(undefined, createSecretGenerator());

describe('the PostgreSQL server of ./svc', () => {
  let folder: string;
  let plan: PostgresPlan;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc pg-')); // Mode 700. The path contains a space, to test that each path is quoted.
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

  const serviceUrl = (service: (typeof SERVICES)[number]) =>
    `postgres://${roleOf(service)}:${secrets.rolePasswords[service]}@127.0.0.1:${plan.port}/svc`;
  const ownerUrl = (service: (typeof SERVICES)[number]) =>
    `postgres://${ownerRoleOf(service)}:${secrets.ownerPasswords[service]}@127.0.0.1:${plan.port}/svc`;

  it('is created by the first start, and found by the next start', async () => {
    expect((await startPostgres(plan)).description).toMatch(/^created and started on/);
    const first = findPostgres(plan.directory);
    expect((await startPostgres(plan)).description).toMatch(/^runs on/);
    expect(findPostgres(plan.directory)).toEqual(first);
  });

  it('has all committed rows after it was killed with kill -9', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await query(superuserUrl, 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)');
    process.kill(findPostgres(plan.directory)?.pid ?? 0, 'SIGKILL');
    await startPostgres(plan);
    expect(await query(superuserUrl, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
  });

  it('keeps committed rows in a power cut, and is reached with a password over TCP only', async () => {
    const { superuserUrl } = await startPostgres(plan);
    const [settings] = await query(
      superuserUrl,
      `SELECT current_setting('fsync') AS fsync, current_setting('unix_socket_directories') AS sockets`,
    );
    expect(settings).toEqual({ fsync: 'on', sockets: '' });
    expect(await query(superuserUrl, 'SELECT DISTINCT auth_method FROM pg_hba_file_rules')).toEqual([
      { auth_method: 'scram-sha-256' },
    ]);
  });

  describe('for tests', () => {
    let testPlan: PostgresPlan;
    beforeAll(async () => {
      testPlan = { ...plan, directory: join(folder, 'test'), port: await findFreePort(), durable: false };
    });
    afterAll(() => stopPostgres(testPlan.directory));

    it('has a socket without a password in a directory that other users cannot enter, and needs a password over TCP', async () => {
      const { superuserUrl } = await startPostgres(testPlan);
      const url = new URL(superuserUrl);
      expect(url.searchParams.get('host')).toBe(testPlan.directory);
      expect(statSync(testPlan.directory).mode & 0o777).toBe(0o700);
      url.password = 'wrong';
      expect(await query(url.href, 'SELECT inet_client_addr() AS address')).toEqual([{ address: null }]);
      url.searchParams.delete('host');
      await expect(query(url.href, 'SELECT')).rejects.toThrow('password authentication failed');
    });

    it('has only TCP if the path of its directory is too long for a socket', async () => {
      const directory = join(folder, 'x'.repeat(90));
      const port = await findFreePort();
      try {
        const { superuserUrl } = await startPostgres({ ...testPlan, directory, port });
        expect(new URL(superuserUrl).search).toBe('');
      } finally {
        await stopPostgres(directory);
      }
    });
  });

  it('starts although its stale process file contains the id of another process, which continues to run', async () => {
    await stopPostgres(plan.directory);
    const otherProcess = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      writeFileSync(
        join(plan.directory, 'postmaster.pid'),
        `${otherProcess.pid}\n${plan.directory}\n1\n${plan.port}\n\n127.0.0.1\n 1 1\nready\n`,
      );
      expect(findPostgres(plan.directory)).toBeUndefined();
      expect((await startPostgres(plan)).description).toMatch(/^started on/);
      expect(otherProcess.exitCode).toBeNull();
      expect(otherProcess.signalCode).toBeNull();
    } finally {
      otherProcess.kill('SIGKILL');
    }
  });

  it('is started again when its port changes', async () => {
    const port = await findFreePort();
    await startPostgres({ ...plan, port });
    expect(findPostgres(plan.directory)?.port).toBe(port);
    await startPostgres(plan);
    expect(findPostgres(plan.directory)?.port).toBe(plan.port);
  });

  it('listens on a port that requireFreePorts rejects', async () => {
    await startPostgres(plan);
    await expect(requireFreePorts({ 'the API': plan.port })).rejects.toThrow(
      new RegExp(`port ${plan.port} for the API .* is in use by`),
    );
  });

  it('rejects a wrong password with a reference to secrets.json', async () => {
    await startPostgres(plan);
    await expect(startPostgres({ ...plan, password: 'another-password-entirely' })).rejects.toThrow(/secrets\.json/);
  });

  it.each([
    ['a folder that is not a cluster', undefined, /no PG_VERSION/],
    ['a cluster of another major version', '15\n', /created by PostgreSQL 15/],
  ])('is not started in %s, and does not change the folder', async (_directory, version, message) => {
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

  it('reports the reason when its cluster is damaged', async () => {
    await stopPostgres(plan.directory);
    const control = join(plan.directory, 'global', 'pg_control');
    const intact = readFileSync(control);
    writeFileSync(control, intact.subarray(0, 100));
    await expect(startPostgres(plan)).rejects.toThrow(/did not start: .*pg_control/);
    writeFileSync(control, intact);
    await startPostgres(plan);
  });

  it('has a schema for each service that no other service can read, also after a second provisioning', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    await provision(superuserUrl, secrets);
    expect(await query(serviceUrl('identity'), 'SHOW idle_in_transaction_session_timeout')).toEqual([
      { idle_in_transaction_session_timeout: '10s' },
    ]);
    await query(ownerUrl('identity'), 'CREATE TABLE keys (id int)');
    expect(
      await query(
        superuserUrl.replace(/postgres$/, 'svc'),
        "SELECT schemaname FROM pg_tables WHERE tablename = 'keys'",
      ),
    ).toEqual([{ schemaname: 'identity' }]);
    for (const service of SERVICES.filter((name) => name !== 'identity')) {
      for (const url of [serviceUrl(service), ownerUrl(service)])
        await expect(query(url, 'SELECT * FROM identity.keys')).rejects.toThrow(
          /permission denied for schema identity/,
        );
      await expect(query(serviceUrl(service), 'CREATE TABLE public.mine (id int)')).rejects.toThrow(
        /permission denied for schema public/,
      );
      await expect(query(serviceUrl(service).replace(/svc$/, 'postgres'), 'SELECT 1')).rejects.toThrow(
        /permission denied for database/,
      );
    }
  });

  it('counts as migrated when the comment of the database matches the migrations and all schemas exist', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    const databases = { superuserUrl: superuserUrl.replace(/postgres$/, 'svc'), ownerUrls: SERVICES.map(ownerUrl) };
    const digest = migrationsDigest(root);
    expect(await isMigrated(databases, digest)).toBe(false);
    for (const service of SERVICES) await query(ownerUrl(service), 'CREATE TABLE migrations ()');
    expect(await isMigrated(databases, digest)).toBe(false);
    await markMigrated(databases, digest);
    expect(await isMigrated(databases, digest)).toBe(true);
    expect(await isMigrated(databases, digest.replace(/.$/, 'x'))).toBe(false);
    // A restored backup may have another number of migrations.
    await query(ownerUrl('identity'), 'INSERT INTO migrations DEFAULT VALUES');
    expect(await isMigrated(databases, digest)).toBe(false);
    await query(ownerUrl('identity'), 'DROP TABLE migrations');
    expect(await isMigrated(databases, digest)).toBe(false);
  });

  it('runs the code of a schema as its owner, not as the superuser, when ./svc counts the migrations', async () => {
    const { superuserUrl } = await startPostgres(plan);
    await provision(superuserUrl, secrets);
    const databases = { superuserUrl: superuserUrl.replace(/postgres$/, 'svc'), ownerUrls: SERVICES.map(ownerUrl) };
    for (const service of SERVICES)
      await query(ownerUrl(service), 'DROP TABLE IF EXISTS migrations; CREATE TABLE migrations ()');
    await query(
      ownerUrl('identity'),
      `DROP TABLE migrations; CREATE TABLE seen (by name);
       CREATE FUNCTION spy() RETURNS SETOF int LANGUAGE plpgsql AS 'BEGIN INSERT INTO identity.seen VALUES (current_user); RETURN NEXT 1; END';
       CREATE VIEW migrations AS SELECT * FROM spy()`,
    );
    await markMigrated(databases, migrationsDigest(root));
    expect(await isMigrated(databases, migrationsDigest(root))).toBe(true);
    expect(await query(ownerUrl('identity'), 'SELECT DISTINCT by FROM seen')).toEqual([{ by: 'svc_identity_owner' }]);
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

function createSecretGenerator(): () => string {
  let count = 0;
  return () => `secret-number-${++count}-padded`;
}
