import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.ts';
import { loadSecrets } from './secrets.ts';
import { environmentFor } from './env-files.ts';
import { takeLock } from './lock.ts';
import { stopPostgres } from './postgres-process.ts';
import { prepare } from './prepare.ts';
import { runProgram, stopPrograms } from './run-program.ts';
import { pathsOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { createSteps } from './steps.ts';
import { SvcError } from './svc-error.ts';
import { findFreePort } from './taken-ports.ts';
import { closingLine, summarise } from './test-summary.ts';
import type { JestReport, Summary } from './test-summary.ts';
import { waitUntil } from './wait-until.ts';

/** What a selection of tests needs beside Node.js. */
interface Needs {
  readonly database: boolean;
  readonly browser: boolean;
}

/** A whole run takes a few minutes; one that takes this long hangs. */
const LONGEST_RUN_SECONDS = 1200;
const EXIT_SECONDS = 20;

/** Runs the tests, all or those that Jest's own options select. Returns the exit code. */
export async function test(settings: Settings, args: readonly string[]): Promise<number> {
  const folder = join(settings.dataDir, 'test');
  const lock = takeLock(join(folder, 'svc.lock'));
  if (!('release' in lock)) {
    throw new SvcError(`the tests already run here (process ${lock.heldBy})`, {
      hint: 'wait for them, or choose another folder with SVC_DATA_DIR',
    });
  }
  const directory = join(folder, 'postgres');
  const stop = onceStopped(directory);
  try {
    const steps = createSteps();
    await prepare(settings, steps, { build: true });
    const needs = args.length === 0 ? { database: true, browser: true } : needsOf(listTests(settings, args));
    const env: Record<string, string> = { FORCE_COLOR: process.stderr.isTTY ? '1' : '0' };
    if (needs.browser) {
      await steps.run(
        'browser',
        async () => (env['SVC_CHROMIUM'] = await ensureChromium(settings.root, join(pathsOf(settings).log, 'apt.log'))),
      );
    }
    if (needs.database) {
      await steps.run('PostgreSQL', async () => {
        const { startPostgres } = await import('./postgres.ts');
        const server = await startPostgres({
          root: settings.root,
          directory,
          port: await findFreePort(),
          password: loadSecrets(join(folder, 'secrets.json')).postgresPassword,
          logFile: join(pathsOf(settings).log, 'postgres-test.log'),
          durable: false,
        });
        env['SVC_TEST_DATABASE_URL'] = server.superuserUrl;
        return server.description;
      });
    }
    const runs = await runAll(settings, args, env);
    for (const complaint of runs.flatMap((run) => run.complaints)) console.log(complaint);
    await stop();
    console.log(closingLine(runs));
    return runs.every((run) => run.failed === 0) ? 0 : 1;
  } finally {
    await stop();
    lock.release();
  }
}

/**
 * The browser tests run by themselves, after the others: they bring up whole platforms, and beside a full set of
 * workers their deadlines would measure the machine.
 */
async function runAll(settings: Settings, args: readonly string[], env: Record<string, string>): Promise<Summary[]> {
  if (args.length > 0) return [await runJest(settings, [...args], env)];
  return [
    await runJest(settings, ['--selectProjects', 'unit', 'integration'], env),
    await runJest(settings, ['--selectProjects', 'system', '--runInBand'], env),
  ];
}

async function runJest(settings: Settings, args: string[], env: Record<string, string>): Promise<Summary> {
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
  return { browser, database: browser || files.some((file) => file.endsWith('.int-spec.ts')) };
}

function jest(settings: Settings): string[] {
  return [join(settings.root, 'node_modules', 'jest', 'bin', 'jest.js')];
}

/** Stops the test database once, at the end or on a signal: Ctrl-C must not leave a server behind. */
function onceStopped(directory: string): () => Promise<void> {
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    stopping ??= stopPostgres(directory);
    await stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      stopPrograms();
      void stop().finally(() => process.exit(130));
    });
  }
  return stop;
}
