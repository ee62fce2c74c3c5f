/** Processes that outlive ./svc. A log receives their output, and a process file records their id and identity. */
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

interface StartedProcess {
  /** Undefined when the process ended immediately. */
  readonly process: ProcessRecord | undefined;
  /** The exit code, signal or error; undefined while it runs. */
  readonly exitReason: () => string | undefined;
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
  let exitReason: string | undefined;
  child.once('exit', (code, signal) => (exitReason = signal ?? `exit code ${code}`));
  child.once('error', (error) => (exitReason = error.message));
  child.unref();
  closeSync(log.handle);
  const identity = child.pid === undefined ? undefined : findIdentity(child.pid);
  const record = child.pid === undefined || identity === undefined ? undefined : { pid: child.pid, identity };
  return { process: record, exitReason: () => exitReason, output: () => readFrom(logFile, log.startsAt) };
}

/** The process of a process file, if that process still runs. */
export function findProcess<Content extends ProcessRecord>(file: string): Content | undefined {
  const content = readJson(file) as Partial<Content> | undefined;
  return isRunning(content) ? (content as Content) : undefined;
}

export function isRunning(record: Partial<ProcessRecord> | undefined): record is ProcessRecord {
  return typeof record?.pid === 'number' && typeof record.identity === 'string' && isAlive(record.pid, record.identity);
}

/** Sends SIGTERM, and SIGKILL if the process still runs after `drainSeconds`. Returns a text for the user. */
export async function stopProcess(record: ProcessRecord | undefined, drainSeconds: number): Promise<string> {
  if (!isRunning(record)) return 'was not running';
  const { pid } = record;
  const hasEnded = () => !isRunning(record);
  sendSignal(pid, 'SIGTERM');
  if (await waitUntil(hasEnded, { withinSeconds: drainSeconds })) return 'stopped';
  sendSignal(pid, 'SIGKILL');
  const isKilled = await waitUntil(hasEnded, { withinSeconds: 10 });
  return isKilled ? `killed, because it did not end within ${drainSeconds} s` : `process ${pid} does not end`;
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: the process has already ended
  }
}
