import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { openLog } from './files.ts';

const running = new Set<ChildProcess>();

/**
 * Runs a program to its end. The terminal or the log file receives its output.
 * @returns the exit code; 1 when a signal ended it
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; logFile?: string; killedBy?: AbortSignal },
): Promise<number> {
  const log = options.logFile === undefined ? undefined : openLog(options.logFile);
  const output = log?.handle ?? 'inherit';
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [log === undefined ? 'inherit' : 'ignore', output, output],
  });
  running.add(child);
  options.killedBy?.addEventListener('abort', () => child.kill('SIGKILL'));
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    running.delete(child);
    if (log !== undefined) closeSync(log.handle);
  }
}

/** An interrupted ./svc must not leave npm or the compiler running. */
export function stopPrograms(): void {
  for (const child of running) child.kill('SIGTERM');
}
