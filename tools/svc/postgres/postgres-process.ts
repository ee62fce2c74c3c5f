/** Finds the server of a data directory by its postmaster.pid, and stops it. Needs no package. */
import { join } from 'node:path';
import { readText } from '../base/files.ts';
import { readCommandLine } from '../base/process-identity.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

interface RunningPostgres {
  readonly pid: number;
  readonly port: number;
}

const FAST_STOP_SECONDS = 20;
const IMMEDIATE_STOP_SECONDS = 10;

/** Undefined when no server runs, even if its file remains or another process now has its process id. */
export function findPostgres(directory: string): RunningPostgres | undefined {
  const lines = readPidFile(directory);
  const pid = Number(lines[0]);
  const isServer = `${readCommandLine(pid)} `.includes(`postgres -D ${directory} `);
  return isServer ? { pid, port: Number(lines[3]) } : undefined;
}

export function hasStalePidFile(directory: string): boolean {
  return readPidFile(directory).length > 0 && findPostgres(directory) === undefined;
}

/** Ends connections, writes a checkpoint and stops. Returns the outcome as a text. */
export async function stopPostgres(directory: string): Promise<string> {
  const running = findPostgres(directory);
  if (running === undefined) return 'was not running';
  const hasEnded = () => findPostgres(directory) === undefined;
  process.kill(running.pid, 'SIGINT');
  if (await waitUntil(hasEnded, { withinSeconds: FAST_STOP_SECONDS })) return 'stopped';
  process.kill(running.pid, 'SIGQUIT');
  if (await waitUntil(hasEnded, { withinSeconds: IMMEDIATE_STOP_SECONDS }))
    return `stopped without a checkpoint, after ${FAST_STOP_SECONDS} s`;
  throw new SvcError(`PostgreSQL (process ${running.pid}) does not stop`, {
    hint: `end it with kill -9 ${running.pid}`,
  });
}

function readPidFile(directory: string): string[] {
  return readText(join(directory, 'postmaster.pid'))?.trim().split('\n') ?? [];
}
