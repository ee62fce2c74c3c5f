/** A process that outlives ./svc: started with its output in a log, kept in a file by id and identity, stopped. */
import { spawn, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { openLog, readFrom, readJson } from './files.ts';
import { findIdentity, isAlive } from './process-identity.ts';
import { waitUntil } from './wait-until.ts';

/** As files keep it. */
export interface KnownProcess {
  readonly pid: number;
  /** Tells the process from a later one with the same id. */
  readonly identity: string;
}

export interface StartedProcess {
  /** Undefined when it ended at once. */
  readonly process: KnownProcess | undefined;
  /** How it ended; undefined while it runs. */
  readonly end: () => string | undefined;
  /** Its output since this start. */
  readonly output: () => string;
}

/** Starts a program in a session of its own. */
export function startInBackground(
  file: string,
  args: readonly string[],
  { logFile, ...options }: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> & { readonly logFile: string },
): StartedProcess {
  const log = openLog(logFile);
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log.handle, log.handle] });
  let end: string | undefined;
  child.once('exit', (code, signal) => (end = signal ?? `exit code ${code}`));
  child.once('error', (error) => (end = error.message));
  child.unref();
  closeSync(log.handle);
  const identity = child.pid === undefined ? undefined : findIdentity(child.pid);
  const started = child.pid === undefined || identity === undefined ? undefined : { pid: child.pid, identity };
  return { process: started, end: () => end, output: () => readFrom(logFile, log.startsAt) };
}

/** The process that a file of ours names, if that very process still runs. */
export function findProcess<Known extends KnownProcess>(file: string): Known | undefined {
  const known = readJson(file) as Partial<Known> | undefined;
  return isRunning(known) ? (known as Known) : undefined;
}

export function isRunning(known: Partial<KnownProcess> | undefined): known is KnownProcess {
  return typeof known?.pid === 'number' && typeof known.identity === 'string' && isAlive(known.pid, known.identity);
}

/** Lets a process finish what it has at hand, and kills it when it takes too long. Returns what was done, in words. */
export async function stopProcess(known: KnownProcess | undefined, drainSeconds: number): Promise<string> {
  if (!isRunning(known)) return 'was not running';
  const isGone = () => (isRunning(known) ? undefined : true);
  sendSignal(known.pid, 'SIGTERM');
  if ((await waitUntil(isGone, { withinSeconds: drainSeconds })) === true) return 'stopped';
  sendSignal(known.pid, 'SIGKILL');
  const hasEnded = await waitUntil(isGone, { withinSeconds: 10 });
  return hasEnded === true
    ? `killed: it had not finished after ${drainSeconds} s`
    : `process ${known.pid} does not end`;
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended by itself in between
  }
}
