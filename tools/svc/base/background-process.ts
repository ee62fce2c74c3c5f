/** Processes that outlive ./svc. Their output goes to a log, and a process file records id and identity. */
import { spawn, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { openLog, readFrom, readJson } from './files.ts';
import { findIdentity, isAlive } from './process-identity.ts';
import { waitUntil } from './wait-until.ts';

/** The content of a process file. */
export interface ProcessRecord {
  readonly pid: number;
  /** Distinguishes the process from a later one with the same id. */
  readonly identity: string;
}

export interface StartedProcess {
  /** Undefined when the process ended immediately. */
  readonly process: ProcessRecord | undefined;
  /** The exit code, signal or error; undefined while it runs. */
  readonly end: () => string | undefined;
  /** The output since this start. */
  readonly output: () => string;
}

/** Starts a program in its own session. */
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

/** The process of a process file, if that process still runs. */
export function findProcess<Known extends ProcessRecord>(file: string): Known | undefined {
  const known = readJson(file) as Partial<Known> | undefined;
  return isRunning(known) ? (known as Known) : undefined;
}

export function isRunning(known: Partial<ProcessRecord> | undefined): known is ProcessRecord {
  return typeof known?.pid === 'number' && typeof known.identity === 'string' && isAlive(known.pid, known.identity);
}

/** Sends SIGTERM, then SIGKILL after `drainSeconds`. Returns the outcome as a text. */
export async function stopProcess(known: ProcessRecord | undefined, drainSeconds: number): Promise<string> {
  if (!isRunning(known)) return 'was not running';
  const isGone = () => (isRunning(known) ? undefined : true);
  sendSignal(known.pid, 'SIGTERM');
  if ((await waitUntil(isGone, { withinSeconds: drainSeconds })) === true) return 'stopped';
  sendSignal(known.pid, 'SIGKILL');
  const hasEnded = await waitUntil(isGone, { withinSeconds: 10 });
  return hasEnded === true
    ? `killed, because it did not end within ${drainSeconds} s`
    : `process ${known.pid} does not end`;
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: it has already ended
  }
}
