/**
 * A PostgreSQL of the project's own: the binaries of the npm package, a data directory below the data folder, reachable
 * on the loopback interface alone and with a password. It survives this process, a kill -9 of itself or of everything,
 * and being moved between the ways of running it (see postgres-user.ts).
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
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { findPostgres, hasStalePidFile, stopPostgres } from './postgres-process.ts';
import { asUser, findPostgresUser, type PostgresUser } from './postgres-user.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

export interface PostgresPlan {
  readonly root: string;
  /** Another server than the one npm brings. */
  readonly binaries?: PostgresBinaries;
  readonly directory: string;
  readonly port: number;
  /** Of the superuser `postgres`. */
  readonly password: string;
  readonly logFile: string;
  /** False for test databases: what a power cut would take is made anew anyway. */
  readonly durable: boolean;
}

export interface StartedPostgres {
  /** postgres:// address of the superuser, database `postgres`. */
  readonly superuserUrl: string;
  readonly wasRunning: boolean;
  readonly description: string;
}

/** Crash recovery replays the log since the last checkpoint: seconds on a laptop, a minute on a slow disk. */
const START_SECONDS = 120 * PATIENCE;
/** Backends of a killed server end by themselves within moments, and until then no other may start. */
const ORPHANS_SECONDS = 10;

/** Starts the server, or finds the one that already runs on that directory. */
export async function startPostgres(plan: PostgresPlan): Promise<StartedPostgres> {
  const superuserUrl = `postgres://postgres:${plan.password}@127.0.0.1:${plan.port}/postgres`;
  const running = findPostgres(plan.directory);
  if (
    running?.port === plan.port &&
    (await becomesReady(superuserUrl, plan, () => findPostgres(plan.directory) === undefined))
  ) {
    return { superuserUrl, wasRunning: true, description: `runs on 127.0.0.1:${plan.port}` };
  }
  if (running !== undefined) await stopPostgres(plan.directory); // on another port, or alive but not answering

  const binaries = plan.binaries ?? findPostgresBinaries(plan.root);
  const parent = join(plan.directory, '..');
  mkdirSync(parent, { recursive: true });
  const user = findPostgresUser(binaries.postgres, parent);
  const isNew = !existsSync(plan.directory);
  if (isNew) initialise(plan, binaries, user);
  repairOwner(plan.directory, user);
  requireUsableDirectory(plan.directory, binaries);
  await launch(plan, binaries, user, superuserUrl);
  const how = user.description === 'as this user' ? '' : `, ${user.description}`;
  return {
    superuserUrl,
    wasRunning: false,
    description: `${isNew ? 'made and ' : ''}started on 127.0.0.1:${plan.port}${how}`,
  };
}

/** Made beside its place and moved there when whole: an initdb that was killed leaves nothing that looks like a cluster. */
function initialise(plan: PostgresPlan, binaries: PostgresBinaries, user: PostgresUser): void {
  const draft = `${plan.directory}.new`;
  const passwordFile = `${plan.directory}.password`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, plan.password, { mode: 0o600 });
  if (process.getuid?.() === 0) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
  try {
    const settings = ['-A', 'scram-sha-256', '--locale=C', '-E', 'UTF8', '-U', 'postgres', `--pwfile=${passwordFile}`];
    const durability = plan.durable ? [] : ['--no-sync'];
    const { file, args, options } = asUser(user, binaries.initdb, ['-D', draft, ...settings, ...durability]);
    const result = spawnSync(file, args, { ...options, encoding: 'utf8', timeout: 120_000 });
    if (result.status !== 0) {
      const reason = (result.error?.message ?? findReason(result.stderr)) || `exit code ${result.status}`;
      throw new SvcError(`PostgreSQL's data directory ${plan.directory} could not be made: ${reason}`);
    }
    renameSync(draft, plan.directory);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

function requireUsableDirectory(directory: string, binaries: PostgresBinaries): void {
  const versionFile = join(directory, 'PG_VERSION');
  const version = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : undefined;
  if (version === binaries.major) return;
  throw new SvcError(
    version === undefined
      ? `${directory} is not a data directory of PostgreSQL (it has no PG_VERSION)`
      : `${directory} was made by PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}`,
    { hint: 'move it away to start with an empty one, or choose another folder with SVC_DATA_DIR' },
  );
}

function repairOwner(directory: string, user: PostgresUser): void {
  if (statSync(directory).uid === user.uid) return;
  if (process.getuid?.() !== 0) {
    throw new SvcError(`PostgreSQL's data directory ${directory} belongs to another user`, {
      hint: `run ./svc as that user, or give it to yourself: sudo chown -R "$(id -u):$(id -g)" '${directory}'`,
    });
  }
  const result = spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, directory], { encoding: 'utf8' });
  if (result.status !== 0)
    throw new SvcError(`PostgreSQL's data directory cannot be given to its user: ${result.stderr.trim()}`);
  chmodSync(directory, 0o700);
}

async function launch(plan: PostgresPlan, binaries: PostgresBinaries, user: PostgresUser, url: string): Promise<void> {
  const deadline = performance.now() + ORPHANS_SECONDS * 1000;
  let failure: string | undefined;
  do {
    failure = await launchOnce(plan, binaries, user, url);
  } while (failure?.includes('shared memory block') && performance.now() < deadline);
  if (failure !== undefined)
    throw new SvcError(`PostgreSQL did not start: ${failure}`, { hint: `its log is ${plan.logFile}` });
}

/** Returns why it failed; undefined when it runs. */
async function launchOnce(
  plan: PostgresPlan,
  binaries: PostgresBinaries,
  user: PostgresUser,
  url: string,
): Promise<string | undefined> {
  // The number in a stale file may belong to another process by now, and PostgreSQL compares the number only. From the shared
  // memory it finds out by itself whether backends of the killed server still run.
  if (hasStalePidFile(plan.directory)) rmSync(join(plan.directory, 'postmaster.pid'), { force: true });
  const { file, args, options } = asUser(user, binaries.postgres, ['-D', plan.directory, ...serverSettings(plan)]);
  const server = startInBackground(file, args, { ...options, cwd: '/', logFile: plan.logFile });
  if (await becomesReady(url, plan, () => server.end() !== undefined)) return undefined;
  if (server.end() === undefined) await stopPostgres(plan.directory);
  return findReason(server.output()) || `it gave no reason within ${START_SECONDS} s`;
}

/**
 * Durability as in production (fsync and full_page_writes on, wal_level replica, both the defaults): what the local
 * platform is seen to survive and to cost should hold there too. No Unix socket: a data folder's path is often longer
 * than the 107 bytes one may have.
 */
function serverSettings(plan: PostgresPlan): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: plan.port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] %u@%d ',
    jit: 'off',
    ...(plan.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function becomesReady(url: string, plan: PostgresPlan, hasEnded: () => boolean): Promise<boolean> {
  const answer = await waitUntil(async () => ((await isReady(url, plan)) ? true : hasEnded() ? false : undefined), {
    withinSeconds: START_SECONDS,
    everyMilliseconds: 25,
  });
  return answer === true;
}

async function isReady(url: string, plan: PostgresPlan): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined); // The server may go away between connecting and ending.
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code;
    const isWrongPassword = code === '28P01' || code === '28000';
    if (!isWrongPassword) return false;
    throw new SvcError(`PostgreSQL in ${plan.directory} does not accept the password in secrets.json`, {
      hint: 'the two were not made together: restore secrets.json, or move the whole data folder away to start anew',
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The line of a server's output that says why it gave up. */
export function findReason(output: string): string {
  // The probes of a server that is still recovering are answered, and logged, as FATAL too.
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !line.includes('the database system is'));
  // What follows a full disk are complaints about its consequences.
  const fullDisk = lines.find((line) => line.includes('No space left on device'));
  const reason = fullDisk ?? lines.findLast((line) => /\b(PANIC|FATAL|ERROR|error):/.test(line)) ?? lines.at(-1) ?? '';
  return reason.replace(/^.*?\b(PANIC|FATAL|ERROR|error):\s*/, '').trim();
}
