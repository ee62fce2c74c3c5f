/** A lane is a child process that runs spec files (lane.ts), with its own PostgreSQL server. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Line, Plan } from './plan.ts';

export interface Lane {
  readonly number: number;
  readonly serverLog: string;
  run(spec: string, plan: LanePlan): Promise<Run>;
  stop(): void;
}

/** A plan without the fields that the lane adds. */
export type LanePlan = DistributiveOmit<Plan, 'out' | 'serverLog'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export interface Run {
  readonly lines: readonly Line[];
  /** `ended`: Jest ended; `hung`: the process was killed because it wrote no output; `broken`: the process crashed. */
  readonly end: 'ended' | 'hung' | 'broken';
  /** Why the spec file could not run. */
  readonly error: string | undefined;
}

/**
 * A process without output for this time is in an endless loop. A test that only waits reaches its time limit earlier.
 */
const MAX_SILENCE_MS = 90_000;
const CHECK_INTERVAL_MS = 500;
/** Ends a process after this many runs, because tests leak memory. */
const RUNS_PER_PROCESS = 25;

/**
 * @param hasOpenTransaction whether a transaction is still open on the server after a run. A failed test has left it, and
 *   it could make later tests fail, so the process ends, and the transaction with it.
 */
export function createLane(
  number: number,
  folder: string,
  serverLog: string,
  env: () => NodeJS.ProcessEnv,
  hasOpenTransaction: () => Promise<boolean> = () => Promise.resolve(false),
): Lane {
  let child: ChildProcess | undefined;
  let runs = 0;
  const startChild = async (): Promise<ChildProcess> => {
    if (child?.connected && runs++ < RUNS_PER_PROCESS) return child;
    child?.kill('SIGKILL');
    runs = 1;
    const newChild = fork(join(import.meta.dirname, 'lane.ts'), {
      env: env(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--max-old-space-size=3072'],
    });
    child = newChild;
    await new Promise((resolve) => newChild.once('message', resolve).once('exit', resolve));
    return newChild;
  };
  const stopChild = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  return {
    number,
    serverLog,
    async run(spec, plan) {
      const out = join(folder, `lane-${number}.jsonl`);
      const file = join(folder, `lane-${number}.plan.json`);
      rmSync(out, { force: true });
      writeFileSync(file, JSON.stringify({ ...plan, out, serverLog }));
      const { end, error } = await runInChild(await startChild(), { spec, plan: file }, out);
      if (await hasOpenTransaction()) stopChild();
      return { lines: readLines(out), end, error };
    },
    stop: stopChild,
  };
}

async function runInChild(
  child: ChildProcess,
  order: { spec: string; plan: string },
  out: string,
): Promise<Omit<Run, 'lines'>> {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<Omit<Run, 'lines'>>((resolve) => {
    child.once('message', ({ error }: { error?: string }) => resolve({ end: 'ended', error }));
    child.once('exit', (code, signal) => resolve({ end: 'broken', error: `Jest ended (${signal ?? code})` }));
    // Counts checks instead of time, because the machine may sleep, or both processes may be stopped.
    let checksWithoutOutput = 0;
    let size = 0;
    timer = setInterval(() => {
      const currentSize = existsSync(out) ? statSync(out).size : 0;
      checksWithoutOutput = currentSize === size ? checksWithoutOutput + 1 : 0;
      size = currentSize;
      if (checksWithoutOutput * CHECK_INTERVAL_MS < MAX_SILENCE_MS) return;
      resolve({ end: 'hung', error: `it hung for ${MAX_SILENCE_MS / 1000} s` });
      child.kill('SIGKILL');
    }, CHECK_INTERVAL_MS);
  });
  child.send(order);
  try {
    return await ended;
  } finally {
    clearInterval(timer);
    child.removeAllListeners('message').removeAllListeners('exit');
  }
}

function readLines(out: string): Line[] {
  if (!existsSync(out)) return [];
  const lines = readFileSync(out, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
