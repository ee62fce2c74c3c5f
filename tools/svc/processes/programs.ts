/** The programs of the apps, as tools/bundle has made them. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KnownProcess, findProcess, startInBackground, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type Variables, environmentFor } from './env-files.ts';
import { formatLogLine } from './log-lines.ts';

/**
 * What Node.js is given to run a program of an app; the working directory is the root. Telemetry comes first, so that what is
 * loaded after it can be traced: within a bundle it would be loaded when all else is.
 */
export function programArguments(root: string, app: string, program: 'main' | 'migrate' = 'main'): string[] {
  const script = join(root, 'dist', app, `${program}.js`);
  if (!existsSync(script)) throw new SvcError(`${script} is missing`, { hint: 'the build should have made it' });
  return ['--enable-source-maps', '--import=./dist/telemetry/main.js', script];
}

export interface ProgramPlan {
  /** For errors, with its verb: `the services were`. */
  readonly name: string;
  readonly root: string;
  /** What Node.js is given. */
  readonly program: readonly string[];
  readonly variables: Variables;
  readonly logFile: string;
  /** Keeps the process, with the notes, while it runs. */
  readonly processFile: string;
  readonly notes: object;
  readonly isReady: () => Promise<boolean>;
  readonly readySeconds: number;
  readonly askEveryMilliseconds?: number;
}

/** Starts a program that outlives ./svc and waits until it is ready. Throws what its log says when it ends or is not ready. */
export async function startProgram(plan: ProgramPlan): Promise<KnownProcess> {
  const { root: cwd, variables, logFile, processFile, readySeconds } = plan;
  const started = startInBackground(process.execPath, plan.program, { cwd, env: environmentFor(variables), logFile });
  if (started.process !== undefined) {
    writeAtomically(processFile, `${JSON.stringify({ ...started.process, ...plan.notes })}\n`, OWNER_ONLY);
    const isReady = await waitUntil(
      async () => ((await plan.isReady()) ? true : started.end() === undefined ? undefined : false),
      { withinSeconds: readySeconds, everyMilliseconds: plan.askEveryMilliseconds ?? 50 },
    );
    // Only ready while it lives: another process could have answered on the port.
    if (isReady === true && started.end() === undefined) return started.process;
  }
  const end = started.end();
  await stopProgram(processFile, 15);
  const what = end === undefined ? `not ready within ${readySeconds} s` : 'ended while starting';
  const reason = lastError(started.output()) ?? end ?? 'no reason was given';
  throw new SvcError(`${plan.name} ${what}: ${reason}`, { hint: `see the log, ${logFile}` });
}

/** Returns what was done, in words. */
export async function stopProgram(processFile: string, drainSeconds: number): Promise<string> {
  const done = await stopProcess(findProcess(processFile), drainSeconds);
  rmSync(processFile, { force: true });
  return done;
}

/** The last line of a log that reports an error, as a person reads it. */
export function lastError(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // An entry of level error, what a service says of its own start, or an exception that was not caught; else the last line.
  const telling = /"level":\s*("(error|fatal)"|[56]0)|^Cannot start: |^\w*(Error|Exception)\b.*:/;
  const line = lines.findLast((candidate) => telling.test(candidate)) ?? lines.at(-1);
  return line === undefined ? undefined : (formatLogLine(line).split('\n')[0] ?? '').trim().slice(0, 400);
}
