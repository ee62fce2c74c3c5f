import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { openLog } from './files.ts';

const running = new Set<ChildProcess>();

export interface Finished {
  /** The exit code; 128 + n after signal n is not told apart, null becomes 1. */
  readonly code: number;
}

/** Runs a program to its end, its output shown as it is, or kept in a log. Rejects when it cannot be started. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; logFile?: string; killedBy?: AbortSignal },
): Promise<Finished> {
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  const output = log?.handle ?? 'inherit';
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [log === undefined ? 'inherit' : 'ignore', output, output],
  });
  running.add(child);
  const kill = () => child.kill('SIGKILL');
  options.killedBy?.addEventListener('abort', kill);
  return new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code: code ?? 1 }));
  }).finally(() => {
    running.delete(child);
    options.killedBy?.removeEventListener('abort', kill);
    if (log !== undefined) closeSync(log.handle);
  });
}

/** Ends what runProgram still runs: an interrupted ./svc leaves no npm or compiler behind. */
export function stopPrograms(): void {
  for (const child of running) child.kill('SIGTERM');
}
