import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { acquireLock } from '../base/lock.ts';
import { PATIENCE, readPatience } from '../base/patience.ts';
import { runProgram } from '../base/run-program.ts';
import { createSteps, type Steps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { buildPage } from '../install/build.ts';
import { ensureChromium } from '../install/chromium.ts';
import { ensurePhp } from '../install/php.ts';
import { prepare } from '../install/prepare.ts';
import { ensureOldestPostgres, OLDEST_POSTGRES } from '../postgres/postgres-oldest.ts';
import { environmentFor } from '../processes/env-files.ts';
import { watchProcessors } from '../processes/processor-time.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { claimFolder, memoryFolder } from './memory-folder.ts';
import { createTestServers, type TestServers } from './test-servers.ts';
import {
  closingLine,
  INSTALLING,
  type JestReport,
  type Phase,
  summarise,
  summariseMissing,
  type Summary,
  timeTable,
} from './test-summary.ts';

/** The servers and programs that the selected tests need. */
interface Needs {
  /** The number of PostgreSQL servers. */
  readonly databases: number;
  readonly oldestDatabase: boolean;
  /** `installed`: RabbitMQ is installed but not started, because the tests start it. */
  readonly broker: 'none' | 'installed' | 'started';
  /** The built platform and a browser. */
  readonly platform: boolean;
}

interface JestRun {
  /** A part of the file name of the report. */
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Shorter than the timeout of a CI pipeline, 90 minutes. */
const RUN_TIMEOUT_SECONDS = 4000;
const EXIT_SECONDS = 20 * PATIENCE;
const WORKERS = availableParallelism();
/** Matches each option of Jest that sets the number of workers. */
const WORKER_OPTION = /^(-i|--runInBand|-w|--maxWorkers.*)$/;
const WATCH_OPTION = /^--watch(All)?$/;
/** System tests mostly wait for the processes of their platforms. */
const SYSTEM_TEST_WORKERS = 3;
/** Other tests wait for PostgreSQL half of the time, so a whole run has one more worker than processors for them. */
const OTHER_TEST_WORKERS = WORKERS + 1;
/** This Jest project repeats some integration tests on the oldest PostgreSQL. */
const OLDEST_PROJECT = `postgres-${OLDEST_POSTGRES}`;

/** Runs all tests, or those that Jest's options select. Returns the exit code. */
export async function test(settings: Settings, args: readonly string[]): Promise<number> {
  const lock = acquireLock(join(settings.dataDir, 'test', 'svc.lock'));
  if (!('release' in lock)) {
    throw new SvcError(`tests are already running here (process ${lock.heldBy})`, {
      hint: 'wait for them, or choose another folder with SVC_DATA_DIR',
    });
  }
  // Only a run of all tests has its databases in memory. A run of selected tests has them on the disk, because the next
  // run then reuses the migrated template databases.
  const memory = args.length === 0 ? memoryFolder(settings.dataDir) : undefined;
  if (memory !== undefined)
    for (const folder of [memory, platformsFolder(memory), temporaryFolder(memory)]) claimFolder(folder);
  const servers = createTestServers(settings, memory);
  try {
    if (args.some((arg) => WATCH_OPTION.test(arg))) return await watch(settings, args, servers);
    const phases =
      args.length === 0 ? await runAll(settings, servers, memory) : await runSelected(settings, args, servers);
    await servers.stop();
    const runs = phases.flatMap((phase) => phase.runs);
    console.log(timeTable(phases));
    // Readers of a long log see its end first.
    for (const failure of runs.flatMap(({ failures }) => failures)) console.log(failure);
    console.log(closingLine(runs));
    return runs.every((run) => run.failed === 0) ? 0 : 1;
  } finally {
    await servers.stop();
    if (memory !== undefined) rmSync(temporaryFolder(memory), { recursive: true, force: true });
    lock.release();
  }
}

function platformsFolder(memory: string): string {
  return `${memory}-platforms`;
}

function temporaryFolder(memory: string): string {
  return `${memory}-tmp`;
}

/** Temporary files of tests, such as the databases of transformers, whose transactions would wait for the disk. */
function openTemporaryFolder(memory: string): string {
  const folder = temporaryFolder(memory);
  // As in /tmp, any user may create files: PostgreSQL does not run as root.
  chmodSync(folder, 0o1777);
  return folder;
}

/**
 * Installs everything first, so that the durations of the other phases do not depend on the network. Runs the unit
 * tests while the servers are started. Then starts two runs of Jest at the same time: the first has a PostgreSQL for
 * each worker, the second runs system tests, which start whole platforms and mostly wait. A last run executes the tests
 * that measure time (`*.timed.*`), one at a time.
 *
 * @param memory a folder in memory; the data of platforms and temporary files are beside it
 */
async function runAll(settings: Settings, servers: TestServers, memory: string | undefined): Promise<Phase[]> {
  const steps = createSteps();
  // The tests of a whole run keep all processors busy.
  const env: Record<string, string> = {
    // Two runs of Jest share the terminal, so Jest must not move its cursor.
    TERM: 'dumb',
    SVC_PATIENCE: String(readPatience(process.env, true)),
    ...(memory === undefined
      ? {}
      : { SVC_TEST_PLATFORMS: platformsFolder(memory), TMPDIR: openTemporaryFolder(memory) }),
  };
  const run = (name: string, projects: readonly string[], workers: number) =>
    runJest(settings, { name, env, args: ['--selectProjects', ...projects, '--maxWorkers', String(workers)] });
  const installing = await phaseOf(INSTALLING, async () => {
    await prepare(settings, steps, { build: false });
    await steps.run('programs', () => installPrograms(settings));
    return [];
  });
  const preparing = await phaseOf('preparing', async () => {
    await prepare(settings, steps, { build: true });
    const all = { databases: OTHER_TEST_WORKERS, oldestDatabase: true, broker: 'started', platform: true } as const;
    const unit = run('unit', ['unit'], WORKERS);
    Object.assign(env, await startServers(settings, all, servers, steps));
    return [await unit];
  });
  const hasOldest = env['SVC_TEST_OLDEST_DATABASE_URLS'] !== undefined;
  return [
    installing,
    preparing,
    await phaseOf('tests', async () => [
      ...(await Promise.all([
        run('tests', ['integration', ...(hasOldest ? [OLDEST_PROJECT] : [])], OTHER_TEST_WORKERS),
        run('system', ['system'], SYSTEM_TEST_WORKERS),
      ])),
      ...(hasOldest ? [] : [summariseMissing(`the tests of ${OLDEST_PROJECT}: install postgresql-${OLDEST_POSTGRES}`)]),
    ]),
    await phaseOf('timed tests', async () => [await run('timed', ['timed-integration', 'timed-system'], 1)]),
  ];
}

async function runSelected(settings: Settings, args: readonly string[], servers: TestServers): Promise<Phase[]> {
  let run: JestRun = { name: 'tests', args, env: {} };
  const preparing = await phaseOf('preparing', async () => {
    run = await selectedRun(settings, args, servers);
    return [];
  });
  return [preparing, await phaseOf('tests', async () => [await runJest(settings, run)])];
}

/** Runs Jest in its watch mode until the developer stops it. Jest shows the results. */
async function watch(settings: Settings, args: readonly string[], servers: TestServers): Promise<number> {
  const { args: selected, env } = await selectedRun(settings, args, servers);
  const options = { cwd: settings.root, env: environmentOfTests(env) };
  return runProgram(process.execPath, [...jest(settings), ...selected], options);
}

/** Selected tests run on the newest PostgreSQL, unless the selection contains the project for the oldest. */
async function selectedRun(settings: Settings, args: readonly string[], servers: TestServers): Promise<JestRun> {
  const steps = createSteps();
  await prepare(settings, steps, { build: false });
  const workers = args.some((arg) => WORKER_OPTION.test(arg)) ? [] : ['--maxWorkers', String(WORKERS)];
  const projects = args.includes(OLDEST_PROJECT) ? [] : ['--ignoreProjects', OLDEST_PROJECT];
  const selection = [...args, ...workers, ...projects];
  // With --watch Jest would not list files.
  const listed = selection.filter((arg) => !WATCH_OPTION.test(arg));
  const needs = needsOf(listTests(settings, listed), args.includes(OLDEST_PROJECT));
  if (needs.platform) await prepare(settings, steps, { build: true });
  // Integration tests run a service from its sources, but with the built payment page.
  else if (needs.databases > 0)
    await steps.run('page', () => buildPage(settings.root, join(pathsOf(settings).log, 'build.log')));
  return { name: 'tests', args: selection, env: await startServers(settings, needs, servers, steps) };
}

/** Installs the programs that a whole run needs. Returns a description. */
async function installPrograms(settings: Settings): Promise<string> {
  const { root } = settings;
  const aptLog = join(pathsOf(settings).log, 'apt.log');
  const { ensureRabbitMq } = await import('../rabbitmq/broker.ts');
  await ensureChromium(root, aptLog);
  // Without the oldest PostgreSQL or PHP the other tests still run, but the run fails.
  await ensureOldestPostgres(root, aptLog);
  await ensurePhp(root, aptLog).catch(() => undefined);
  return `RabbitMQ ${await ensureRabbitMq({ root, aptLog })}`;
}

/** Starts the required servers. Returns environment variables with their addresses. */
async function startServers(
  settings: Settings,
  needs: Needs,
  servers: TestServers,
  steps: Steps,
): Promise<Record<string, string>> {
  const aptLog = join(pathsOf(settings).log, 'apt.log');
  const env: Record<string, string> = { FORCE_COLOR: process.stderr.isTTY ? '1' : '0' };
  /** Starts a server and stores its address in a variable. */
  const step = (name: string, variable: string, start: () => Promise<{ address?: string; description: string }>) =>
    steps.run(name, async () => {
      const { address, description } = await start();
      if (address !== undefined) env[variable] = address;
      return description;
    });
  if (needs.platform)
    await step('browser', 'SVC_CHROMIUM', async () => {
      const address = await ensureChromium(settings.root, aptLog);
      return { address, description: address };
    });
  if (needs.databases > 0)
    await step('PostgreSQL', 'SVC_TEST_DATABASE_URLS', () => servers.startPostgres(needs.databases));
  if (needs.oldestDatabase)
    await step(`PostgreSQL ${OLDEST_POSTGRES}`, 'SVC_TEST_OLDEST_DATABASE_URLS', async () => {
      const binaries = await ensureOldestPostgres(settings.root, aptLog);
      if (typeof binaries === 'string') return { description: `missing: ${binaries}` };
      return servers.startPostgres(needs.databases, binaries);
    });
  if (needs.broker === 'installed')
    await steps.run('RabbitMQ', async () => {
      const { ensureRabbitMq } = await import('../rabbitmq/broker.ts');
      return ensureRabbitMq({ root: settings.root, aptLog });
    });
  if (needs.broker === 'started')
    await step('RabbitMQ', 'SVC_TEST_AMQP_URL', async () => {
      const started = await servers.startRabbitMq();
      env['SVC_TEST_RABBITMQ_MANAGEMENT_URL'] = started.managementAddress;
      return started;
    });
  return env;
}

async function phaseOf(name: string, work: () => Promise<Summary[]>): Promise<Phase> {
  const from = performance.now();
  const busy = watchProcessors();
  const runs = await work();
  return { name, runs, seconds: (performance.now() - from) / 1000, busy: busy() };
}

/** Environment variables that a person sets for a run by hand. Tests get no others of the caller's. */
const FORWARDED_SETTINGS = [
  'SVC_TEST_PICTURES',
  'SVC_DOCS_PICTURES',
  'SVC_TILL_BASKETS',
  'SVC_SLOW_PHONE_AGAINST',
  'SVC_WRITE_SCHEMAS',
  'SVC_DOCS_EXAMPLES',
  'SVC_GENERATED_REQUESTS',
  'SVC_GENERATED_SEED',
];

function environmentOfTests(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const forwarded = Object.fromEntries(
    FORWARDED_SETTINGS.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  return environmentFor({ SVC_PATIENCE: String(PATIENCE), ...env, ...forwarded });
}

async function runJest(settings: Settings, { name, args, env }: JestRun): Promise<Summary> {
  const report = join(settings.dataDir, 'test', `report-${name}.json`);
  rmSync(report, { force: true });
  const ended = new AbortController();
  const stuck = new AbortController();
  const stuckReason = watchForStuckRun(report, ended.signal).then((reason) => {
    if (reason !== undefined) stuck.abort();
    return reason;
  });
  const code = await runProgram(process.execPath, [...jest(settings), ...args, '--json', '--outputFile', report], {
    cwd: settings.root,
    env: environmentOfTests(env),
    killedBy: stuck.signal,
  });
  ended.abort();
  const results = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JestReport) : undefined;
  return summarise(results, code, await stuckReason);
}

/**
 * Waits until the run ends, and then returns undefined. Returns a reason to kill the run if it takes too long: Jest
 * waits forever for a connection or timer that a test has left open.
 */
async function watchForStuckRun(report: string, ended: AbortSignal): Promise<string | undefined> {
  const isOver = () => (ended.aborted ? 'ended' : existsSync(report) ? 'reported' : undefined);
  const state = await waitUntil(isOver, { withinSeconds: RUN_TIMEOUT_SECONDS, everyMilliseconds: 200 });
  if (state === undefined) return `the tests were killed after ${RUN_TIMEOUT_SECONDS} s`;
  const hasEnded = () => (ended.aborted ? true : undefined);
  if ((await waitUntil(hasEnded, { withinSeconds: EXIT_SECONDS, everyMilliseconds: 200 })) === true) return undefined;
  return `Jest did not end within ${EXIT_SECONDS} s of the last test: a test has left something open`;
}

function listTests(settings: Settings, args: readonly string[]): string[] {
  const result = spawnSync(process.execPath, [...jest(settings), '--listTests', ...args], {
    cwd: settings.root,
    encoding: 'utf8',
  });
  if (result.status !== 0)
    throw new SvcError(`Jest rejects these options: ${(result.stderr || result.stdout).trim().split('\n')[0]}`, {
      exitCode: 2,
    });
  return result.stdout.split('\n').filter((line) => line.startsWith('/'));
}

/** Depends only on the file names, like jest.config.mjs. */
export function needsOf(files: readonly string[], onOldest = false): Needs {
  const platform = files.some((file) => file.endsWith('.e2e-spec.ts'));
  const onDatabase = files.filter((file) => file.endsWith('.int-spec.ts')).length;
  return {
    platform,
    databases: Math.min(onDatabase, WORKERS),
    oldestDatabase: onOldest,
    broker: brokerFor(files, platform),
  };
}

/** Tests of packages share a running RabbitMQ. Platforms, and the tests of tools and deployments, start their own. */
function brokerFor(files: readonly string[], platform: boolean): Needs['broker'] {
  const onRabbitMq = files.filter((file) => /\/rabbitmq[^/]*\.int-spec\.ts$/.test(file));
  if (onRabbitMq.some((file) => /(^|\/)(apps|libs)\//.test(file))) return 'started';
  return platform || onRabbitMq.length > 0 ? 'installed' : 'none';
}

function jest(settings: Settings): string[] {
  return [join(settings.root, 'node_modules', 'jest', 'bin', 'jest.js')];
}
