/**
 * The PostgreSQL server that ./svc starts. It uses the binaries of the npm package and a data directory below the data
 * folder, listens only on the loopback interface, and requires a password. It outlives this process. It can be started
 * again after a kill -9, and as another user (postgres-user.ts).
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startInBackground } from '../base/background-process.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { findPostgres, hasStalePidFile, stopPostgres } from './postgres-process.ts';
import { asUser, findPostgresUser, type PostgresUser } from './postgres-user.ts';

export interface PostgresPlan {
  readonly root: string;
  /** The server binaries. Default: the binaries of the npm package. */
  readonly binaries?: PostgresBinaries;
  readonly directory: string;
  readonly port: number;
  /** The password of the superuser `postgres`. */
  readonly password: string;
  readonly logFile: string;
  /**
   * False for a server of tests: its data may be lost in a power cut, and it has a Unix socket if the path of its
   * directory is short enough.
   */
  readonly durable: boolean;
}

interface StartedPostgres {
  /** postgres:// URL of the superuser, database `postgres`. `?host=` is the folder of the Unix socket. */
  readonly superuserUrl: string;
  readonly description: string;
}

/** Crash recovery takes seconds on a laptop, a minute on a slow disk. */
const START_SECONDS = 120 * PATIENCE;
/** A server cannot start before the backends of a killed server have ended. */
const ORPHANS_SECONDS = 10;

/**
 * A test server loses its data in a power cut. Autovacuum would start a process for each of its many small databases
 * every minute, and would hold back the transactions of tests.
 */
const SETTINGS_FOR_TESTS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** The shortest limit of the supported systems, in bytes. */
const MAX_SOCKET_PATH = 103;

/** Starts the server of the directory, unless it already runs. */
export async function startPostgres(plan: PostgresPlan): Promise<StartedPostgres> {
  const socketFolder = socketFolderOf(plan);
  const socket = socketFolder === undefined ? '' : `?host=${encodeURIComponent(socketFolder)}`;
  const superuserUrl = `postgres://postgres:${plan.password}@127.0.0.1:${plan.port}/postgres${socket}`;
  const running = findPostgres(plan.directory);
  if (
    running?.port === plan.port &&
    (await waitUntilReady(superuserUrl, plan, () => findPostgres(plan.directory) === undefined))
  ) {
    return { superuserUrl, description: `runs on 127.0.0.1:${plan.port}` };
  }
  // The running server listens on another port, or does not respond.
  if (running !== undefined) await stopPostgres(plan.directory);

  const binaries = plan.binaries ?? findPostgresBinaries(plan.root);
  const parent = join(plan.directory, '..');
  mkdirSync(parent, { recursive: true });
  const user = findPostgresUser(binaries.postgres, parent);
  const isNew = !existsSync(plan.directory);
  if (isNew) initialise(plan, binaries, user);
  repairOwner(plan.directory, user);
  requireUsableDirectory(plan.directory, binaries);
  await launch(plan, binaries, user, superuserUrl);
  const suffix = user.description === 'as this user' ? '' : `, ${user.description}`;
  return {
    superuserUrl,
    description: `${isNew ? 'created and ' : ''}started on 127.0.0.1:${plan.port}${suffix}`,
  };
}

/** Creates the cluster in a temporary folder, then renames it: a killed initdb must not leave an incomplete cluster. */
function initialise(plan: PostgresPlan, binaries: PostgresBinaries, user: PostgresUser): void {
  const temporaryDirectory = `${plan.directory}.new`;
  const passwordFile = `${plan.directory}.password`;
  rmSync(temporaryDirectory, { recursive: true, force: true });
  mkdirSync(temporaryDirectory, { mode: 0o700 });
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, plan.password, { mode: 0o600 });
  if (process.getuid?.() === 0)
    for (const path of [temporaryDirectory, passwordFile]) chownSync(path, user.uid, user.gid);
  try {
    const settings = ['--locale=C', '-E', 'UTF8', '-U', 'postgres', `--pwfile=${passwordFile}`];
    // Only the owner of the data directory can reach its Unix socket, so the socket needs no password, whose check
    // takes 8 ms of processor time for each connection.
    const logins = ['--auth-host=scram-sha-256', `--auth-local=${plan.durable ? 'scram-sha-256' : 'trust'}`];
    const durability = plan.durable ? [] : ['--no-sync'];
    const { file, args, options } = asUser(user, binaries.initdb, [
      '-D',
      temporaryDirectory,
      ...settings,
      ...logins,
      ...durability,
    ]);
    const result = spawnSync(file, args, { ...options, encoding: 'utf8', timeout: 120_000 });
    if (result.status !== 0) {
      const reason = (result.error?.message ?? findReason(result.stderr)) || `exit code ${result.status}`;
      throw new SvcError(`PostgreSQL's data directory ${plan.directory} could not be created: ${reason}`);
    }
    renameSync(temporaryDirectory, plan.directory);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(temporaryDirectory, { recursive: true, force: true });
  }
}

function requireUsableDirectory(directory: string, binaries: PostgresBinaries): void {
  const versionFile = join(directory, 'PG_VERSION');
  const version = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : undefined;
  if (version === binaries.major) return;
  throw new SvcError(
    version === undefined
      ? `${directory} is not a data directory of PostgreSQL (it has no PG_VERSION)`
      : `${directory} was created by PostgreSQL ${version}, but this is PostgreSQL ${binaries.major}`,
    { hint: 'rename it to start with an empty one, or choose another folder with SVC_DATA_DIR' },
  );
}

function repairOwner(directory: string, user: PostgresUser): void {
  if (statSync(directory).uid === user.uid) return;
  if (process.getuid?.() !== 0) {
    throw new SvcError(`PostgreSQL's data directory ${directory} belongs to another user`, {
      hint: `run ./svc as that user, or change the owner: sudo chown -R "$(id -u):$(id -g)" '${directory}'`,
    });
  }
  const result = spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, directory], { encoding: 'utf8' });
  if (result.status !== 0)
    throw new SvcError(`the owner of PostgreSQL's data directory cannot be changed: ${result.stderr.trim()}`);
  chmodSync(directory, 0o700);
}

async function launch(plan: PostgresPlan, binaries: PostgresBinaries, user: PostgresUser, url: string): Promise<void> {
  const deadline = performance.now() + ORPHANS_SECONDS * 1000;
  let failure: string | undefined;
  do {
    failure = await launchOnce(plan, binaries, user, url);
    // PostgreSQL reports a shared memory block while backends of a killed server still run.
  } while (failure?.includes('shared memory block') && performance.now() < deadline);
  if (failure !== undefined)
    throw new SvcError(`PostgreSQL did not start: ${failure}`, { hint: `its log is ${plan.logFile}` });
}

/** Returns the reason of a failure; undefined when the server runs. */
async function launchOnce(
  plan: PostgresPlan,
  binaries: PostgresBinaries,
  user: PostgresUser,
  url: string,
): Promise<string | undefined> {
  // If another process now had the id in a stale file, PostgreSQL would not start. PostgreSQL does not need the
  // file to detect backends of the killed server that still run, because it detects them by their shared memory.
  if (hasStalePidFile(plan.directory)) rmSync(join(plan.directory, 'postmaster.pid'), { force: true });
  const { file, args, options } = asUser(user, binaries.postgres, ['-D', plan.directory, ...serverSettings(plan)]);
  const server = startInBackground(file, args, { ...options, cwd: '/', logFile: plan.logFile });
  if (await waitUntilReady(url, plan, () => server.exitReason() !== undefined)) return undefined;
  if (server.exitReason() === undefined) await stopPostgres(plan.directory);
  return findReason(server.output()) || `not ready within ${START_SECONDS} s, and no output`;
}

/**
 * A statement over a Unix socket takes half of the processor time of a statement over TCP. Only tests use a socket,
 * because production uses TCP. The socket is in the data directory, which other users cannot read.
 */
function socketFolderOf({ durable, directory, port }: PostgresPlan): string | undefined {
  const isUsable =
    !durable && !/[",]/.test(directory) && Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) <= MAX_SOCKET_PATH;
  return isUsable ? directory : undefined;
}

/**
 * The settings for durability are those of production (the defaults: fsync, full_page_writes, wal_level replica), so
 * that crash tests and measurements are valid for production too.
 */
function serverSettings(plan: PostgresPlan): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: plan.port,
    unix_socket_directories: socketFolderOf(plan) ?? '',
    unix_socket_permissions: '0700',
    max_connections: 200,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] %u@%d ',
    jit: 'off',
    ...(plan.durable ? {} : SETTINGS_FOR_TESTS),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function waitUntilReady(url: string, plan: PostgresPlan, hasEnded: () => boolean): Promise<boolean> {
  const probe = async () => ((await isReady(url, plan)) ? 'ready' : hasEnded() && 'ended');
  return (await waitUntil(probe, { withinSeconds: START_SECONDS, everyMilliseconds: 25 })) === 'ready';
}

async function isReady(url: string, plan: PostgresPlan): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined); // The server may close the connection first.
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code;
    const isWrongPassword = code === '28P01' || code === '28000';
    if (!isWrongPassword) return false;
    throw new SvcError(`PostgreSQL in ${plan.directory} does not accept the password in secrets.json`, {
      hint: 'they do not belong together: restore secrets.json, or remove the whole data folder to start again',
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The line of the server's output that contains the reason why it ended. */
export function findReason(output: string): string {
  // During recovery, a server also logs the connection attempts of ./svc as FATAL.
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !line.includes('the database system is'));
  // The lines after a full disk are only its consequences.
  const fullDisk = lines.find((line) => line.includes('No space left on device'));
  const reason = fullDisk ?? lines.findLast((line) => /\b(PANIC|FATAL|ERROR|error):/.test(line)) ?? lines.at(-1) ?? '';
  return reason.replace(/^.*?\b(PANIC|FATAL|ERROR|error):\s*/, '').trim();
}
