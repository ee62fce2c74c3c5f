/** Starts and stops the programs of the apps, which tools/bundle creates. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProcess, type ProcessRecord, startInBackground, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { environmentFor, type Variables } from './env-files.ts';
import { formatLogLine } from './log-lines.ts';

/**
 * The arguments of Node.js for a program of an app, with the repository as working directory. Telemetry is imported
 * first, because it can only trace modules that are loaded after it. As a part of the bundle it would be loaded
 * together with these modules.
 */
export function programArguments(root: string, app: string, program: 'main' | 'migrate' = 'main'): string[] {
  const script = join(root, 'dist', app, `${program}.js`);
  if (!existsSync(script)) throw new SvcError(`${script} is missing`, { hint: 'the build should have created it' });
  return ['--enable-source-maps', '--import=./dist/telemetry/main.js', script];
}

/** The arguments of Node.js for the program that `./svc nx serve` has built from the sources of an app. */
export function servedProgramArguments(folder: string, app: string): string[] {
  return ['--enable-source-maps', `--import=${join(folder, app, 'telemetry.js')}`, join(folder, app, 'main.js')];
}

interface ProgramPlan {
  /** The beginning of error messages: `the services:`. */
  readonly name: string;
  readonly root: string;
  /** Arguments of Node.js. */
  readonly program: readonly string[];
  readonly variables: Variables;
  readonly logFile: string;
  /** Records the process while it runs, with the details. */
  readonly processFile: string;
  readonly details: object;
  readonly isReady: () => Promise<boolean>;
  readonly readySeconds: number;
  readonly readyPollMs?: number;
}

/**
 * Starts a program that outlives ./svc and waits until it is ready.
 * @throws SvcError with the last error of its log when it ends or does not become ready
 */
export async function startProgram(plan: ProgramPlan): Promise<ProcessRecord> {
  const { root: cwd, variables, logFile, processFile, readySeconds } = plan;
  const started = startInBackground(process.execPath, plan.program, { cwd, env: environmentFor(variables), logFile });
  if (started.process !== undefined) {
    writeAtomically(processFile, `${JSON.stringify({ ...started.process, ...plan.details })}\n`, OWNER_ONLY);
    const hasEnded = () => started.exitReason() !== undefined;
    const isReadyOrEnded = async () => (await plan.isReady()) || hasEnded();
    const limits = { withinSeconds: readySeconds, everyMilliseconds: plan.readyPollMs ?? 50 };
    // If the program has ended, another process has responded on its port.
    if ((await waitUntil(isReadyOrEnded, limits)) && !hasEnded()) return started.process;
  }
  const exitReason = started.exitReason();
  await stopProgram(processFile, 15);
  const failure = exitReason === undefined ? `not ready within ${readySeconds} s` : 'ended while starting';
  const reason = lastError(started.output()) ?? exitReason ?? 'its log is empty';
  throw new SvcError(`${plan.name} ${failure}: ${reason}`, { hint: `see the log, ${logFile}` });
}

/** Returns the outcome as a text. */
export async function stopProgram(processFile: string, drainSeconds: number): Promise<string> {
  const outcome = await stopProcess(findProcess(processFile), drainSeconds);
  rmSync(processFile, { force: true });
  return outcome;
}

/** The last line of a log that reports an error, or else its last line, formatted. */
export function lastError(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // A log entry of level error, a failed start of a service, or an uncaught exception.
  const errorLine = /"level":\s*("(error|fatal)"|[56]0)|^Cannot start: |^\w*(Error|Exception)\b.*:/;
  const line = lines.findLast((candidate) => errorLine.test(candidate)) ?? lines.at(-1);
  return line === undefined ? undefined : (formatLogLine(line).split('\n')[0] ?? '').trim().slice(0, 400);
}
