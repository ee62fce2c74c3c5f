/** Finds the server of a data directory by its postmaster.pid, and stops it. Needs no package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '../base/process-identity.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

export interface RunningPostgres {
  readonly pid: number;
  readonly port: number;
}

const FAST_STOP_SECONDS = 20;
const IMMEDIATE_STOP_SECONDS = 10;

/** Undefined also when the process has ended, or when another process has its id now. */
export function findPostgres(directory: string): RunningPostgres | undefined {
  const lines = readPidFile(directory);
  const pid = Number(lines[0]);
  const isOurs = `${readCommandLine(pid)} `.includes(`postgres -D ${directory} `);
  return isOurs ? { pid, port: Number(lines[3]) } : undefined;
}

export function hasStalePidFile(directory: string): boolean {
  return readPidFile(directory).length > 0 && findPostgres(directory) === undefined;
}

/** Ends connections, writes a checkpoint and stops. Returns the outcome as a text. */
export async function stopPostgres(directory: string): Promise<string> {
  const running = findPostgres(directory);
  if (running === undefined) return 'was not running';
  const isGone = () => (findPostgres(directory) === undefined ? true : undefined);
  process.kill(running.pid, 'SIGINT');
  if ((await waitUntil(isGone, { withinSeconds: FAST_STOP_SECONDS })) === true) return 'stopped';
  process.kill(running.pid, 'SIGQUIT');
  if ((await waitUntil(isGone, { withinSeconds: IMMEDIATE_STOP_SECONDS })) === true) {
    return `stopped without a checkpoint, after ${FAST_STOP_SECONDS} s`;
  }
  throw new SvcError(`PostgreSQL (process ${running.pid}) does not stop`, {
    hint: `end it with kill -9 ${running.pid}`,
  });
}

function readPidFile(directory: string): string[] {
  try {
    return readFileSync(join(directory, 'postmaster.pid'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}
