import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.ts';
import { environmentFor } from './env-files.ts';
import { takeLock } from './lock.ts';
import { OLDEST_POSTGRES, ensureOldestPostgres } from './postgres-oldest.ts';
import { prepare } from './prepare.ts';
import { runProgram } from './run-program.ts';
import { pathsOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { createSteps } from './steps.ts';
import type { Steps } from './steps.ts';
import { SvcError } from './svc-error.ts';
import { createTestServers } from './test-servers.ts';
import type { TestServers } from './test-servers.ts';
import { closingLine, phaseTable, runLine, summarise } from './test-summary.ts';
import type { JestReport, Phase, Summary } from './test-summary.ts';
import { waitUntil } from './wait-until.ts';

/** What a selection of tests needs beside Node.js. */
interface Needs {
  readonly database: boolean;
  readonly broker: boolean;
  readonly browser: boolean;
}

/** A whole run takes a few minutes; one that takes this long hangs. */
const LONGEST_RUN_SECONDS = 1200;
const EXIT_SECONDS = 20;
/** A platform is half a dozen processes that mostly wait; more than two of them would measure the machine. */
const PLATFORMS = ['--maxWorkers', '2'];
/**
 * Tests that share a PostgreSQL: a transaction that one has open holds back what the relays of the others may read, and on
 * two processors two at a time are only a seventh quicker.
 */
const ALONE = ['--runInBand'];
/** Patterns of Jest's: what runs on the newest PostgreSQL only. */
const NOT_REPEATED = ['/node_modules/', '/libs/.*/rabbitmq[^/]*\\.int-spec\\.ts$', '/apps/front/'];

/** Runs the tests, all or those that Jest's own options select. Returns the exit code. */
export async function test(settings: Settings, args: readonly string[]): Promise<number> {
  const lock = takeLock(join(settings.dataDir, 'test', 'svc.lock'));
  if (!('release' in lock)) {
    throw new SvcError(`the tests already run here (process ${lock.heldBy})`, {
      hint: 'wait for them, or choose another folder with SVC_DATA_DIR',
    });
  }
  const servers = createTestServers(settings);
  try {
    const steps = createSteps();
    const from = performance.now();
    await prepare(settings, steps, { build: true });
    const needs =
      args.length === 0 ? { database: true, broker: true, browser: true } : needsOf(listTests(settings, args));
    const env = await surroundings(settings, needs, servers, steps);
    const preparing = { name: 'preparing', seconds: (performance.now() - from) / 1000 };
    const phases =
      args.length === 0
        ? await runAll(settings, env, servers, steps)
        : [await phaseOf('tests', () => runJest(settings, args, env))];
    const runs = phases.map(({ run }) => run);
    for (const complaint of runs.flatMap((run) => run.complaints)) console.log(complaint);
    await servers.stop();
    console.log(phaseTable([preparing, ...phases]));
    console.log(closingLine(runs));
    return runs.every((run) => run.failed === 0) ? 0 : 1;
  } finally {
    await servers.stop();
    lock.release();
  }
}

/** Starts or finds what the tests need. Returns the variables that tell them. */
async function surroundings(
  settings: Settings,
  needs: Needs,
  servers: TestServers,
  steps: Steps,
): Promise<Record<string, string>> {
  const env: Record<string, string> = { FORCE_COLOR: process.stderr.isTTY ? '1' : '0' };
  const started = async (name: string, variable: string, start: () => Promise<{ url: string; description: string }>) =>
    steps.run(name, async () => {
      const { url, description } = await start();
      env[variable] = url;
      return description;
    });
  if (needs.browser) {
    const aptLog = join(pathsOf(settings).log, 'apt.log');
    await steps.run('browser', async () => (env['SVC_CHROMIUM'] = await ensureChromium(settings.root, aptLog)));
  }
  if (needs.database) await started('PostgreSQL', 'SVC_TEST_DATABASE_URL', () => servers.startPostgres());
  if (needs.broker) await started('RabbitMQ', 'SVC_TEST_AMQP_URL', () => servers.startRabbitMq());
  return env;
}

/**
 * The integration tests run once more on the oldest PostgreSQL that is supported; those of ./svc itself bring servers
 * of their own, and those that kill brokers say nothing about PostgreSQL: they are not repeated. The system tests run by
 * themselves, after the others: they bring up whole platforms, and beside a full set of workers their deadlines would
 * measure the machine. What says how long something takes (`*.timed.*`) runs alone.
 */
async function runAll(
  settings: Settings,
  env: Record<string, string>,
  servers: TestServers,
  steps: Steps,
): Promise<TestPhase[]> {
  const phases: TestPhase[] = [];
  const run = async (name: string, args: string[], variables = env) => {
    const phase = await phaseOf(name, () => runJest(settings, args, variables));
    console.log(runLine(name, phase.run));
    phases.push(phase);
  };
  await run('unit and integration', ['--selectProjects', 'unit', 'integration', ...ALONE]);
  await run('timed integration', ['--selectProjects', 'timed-integration', ...ALONE]);

  const oldest = `integration on PostgreSQL ${OLDEST_POSTGRES}`;
  const binaries = await ensureOldestPostgres(settings.root, join(pathsOf(settings).log, 'apt.log'));
  if (typeof binaries === 'string') {
    console.log(`${oldest}: not run, because ${binaries}`);
  } else {
    const variables = { ...env };
    await steps.run(`PostgreSQL ${OLDEST_POSTGRES}`, async () => {
      const { url, description } = await servers.startPostgres(binaries);
      variables['SVC_TEST_DATABASE_URL'] = url;
      return description;
    });
    const repeated = ['--testPathPatterns', '/apps/', '/libs/', '--testPathIgnorePatterns', ...NOT_REPEATED];
    await run(oldest, ['--selectProjects', 'integration', ...repeated, ...ALONE], variables);
    await run(`timed ${oldest}`, ['--selectProjects', 'timed-integration', ...repeated, ...ALONE], variables);
  }
  await run('system', ['--selectProjects', 'system', ...PLATFORMS]);
  await run('timed system', ['--selectProjects', 'timed-system', ...ALONE]);
  return phases;
}

/** A phase that ran tests. */
type TestPhase = Phase & { readonly run: Summary };

async function phaseOf(name: string, work: () => Promise<Summary>): Promise<TestPhase> {
  const from = performance.now();
  const run = await work();
  return { name, run, seconds: (performance.now() - from) / 1000 };
}

async function runJest(settings: Settings, args: readonly string[], env: Record<string, string>): Promise<Summary> {
  const report = join(settings.dataDir, 'test', 'report.json');
  rmSync(report, { force: true });
  const ended = new AbortController();
  const stuck = new AbortController();
  const reason = watchForStuck(report, ended.signal).then((found) => {
    if (found !== undefined) stuck.abort();
    return found;
  });
  const { code } = await runProgram(
    process.execPath,
    [...jest(settings), '--json', `--outputFile=${report}`, ...args],
    { cwd: settings.root, env: environmentFor(env), killedBy: stuck.signal },
  );
  ended.abort();
  const content = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as JestReport) : undefined;
  return summarise(content, code, await reason);
}

/** Jest waits for ever for a connection or a timer that a test has left open. Says so; undefined when it ended. */
async function watchForStuck(report: string, ended: AbortSignal): Promise<string | undefined> {
  const isOver = () => (ended.aborted ? 'ended' : existsSync(report) ? 'reported' : undefined);
  const state = await waitUntil(isOver, { withinSeconds: LONGEST_RUN_SECONDS, everyMilliseconds: 200 });
  if (state === undefined) return `the tests were ended after ${LONGEST_RUN_SECONDS} s`;
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
    throw new SvcError(`Jest does not take these options: ${(result.stderr || result.stdout).trim().split('\n')[0]}`, {
      exitCode: 2,
    });
  return result.stdout.split('\n').filter((line) => line.startsWith('/'));
}

/** Tells from the files' names, as jest.config.mjs does. */
export function needsOf(files: readonly string[]): Needs {
  const browser = files.some((file) => file.endsWith('.e2e-spec.ts'));
  return {
    browser,
    database: browser || files.some((file) => file.endsWith('.int-spec.ts')),
    broker: browser || files.some((file) => /\/rabbitmq[^/]*\.int-spec\.ts$/.test(file)),
  };
}

function jest(settings: Settings): string[] {
  return [join(settings.root, 'node_modules', 'jest', 'bin', 'jest.js')];
}
