/**
 * The one process that outlives ./svc: all services together (apps/all-in-one), or the supervisor of a process for
 * each (supervisor.ts). Started, found again, asked for its health, stopped.
 */
import { spawn } from 'node:child_process';
import { closeSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { environmentFor } from '../processes/env-files.ts';
import type { Variables } from '../processes/env-files.ts';
import { OWNER_ONLY, openLog, readFrom, readJson, writeAtomically } from '../base/files.ts';
import { formatLogLine } from '../processes/log-lines.ts';
import { PATIENCE } from '../base/patience.ts';
import { stopLeftBehind } from '../processes/processes.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { programArguments } from '../processes/programs.ts';
import { runProgram } from '../base/run-program.ts';
import { pathsOf, urlOf } from '../base/settings.ts';
import type { Ports, Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

export interface RunningServices {
  readonly pid: number;
  readonly identity: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly ports: Ports;
  readonly mode: Mode;
  /** Its address on the network, where it is served there. */
  readonly lan?: string;
  /** Whether the broker is one of our own: it is then started and stopped with the services. */
  readonly ownsBroker: boolean;
}

/** All services in one process, over the embedded broker or over RabbitMQ; or each in its own, over RabbitMQ. */
export type Mode = 'embedded' | 'rabbitmq' | 'distributed';

/** Six processes on a busy machine take their time to load. */
const READY_SECONDS: Readonly<Record<Mode, number>> = {
  embedded: 60 * PATIENCE,
  rabbitmq: 60 * PATIENCE,
  distributed: 120 * PATIENCE,
};
/** What the services may take to finish requests, messages and notifications at hand. */
const DRAIN_SECONDS: Readonly<Record<Mode, number>> = { embedded: 15, rabbitmq: 15, distributed: 50 };

/** The services as they were started, if that very process still runs. */
export function findServices(settings: Settings): RunningServices | undefined {
  const known = readJson(pathsOf(settings).services) as RunningServices | undefined;
  if (typeof known?.pid !== 'number' || typeof known.identity !== 'string') return undefined;
  if (!isAlive(known.pid, known.identity)) return undefined;
  return { ...known, mode: known.mode ?? 'embedded', ownsBroker: known.ownsBroker ?? false };
}

/** Brings every schema to what the code expects. */
export async function migrate(settings: Settings, variables: Variables, logFile: string): Promise<string> {
  const before = openLog(logFile);
  closeSync(before.handle);
  const env = environmentFor(variables);
  const { code } = await runProgram(process.execPath, programArguments(settings.root, 'all-in-one', 'migrate'), {
    cwd: settings.root,
    env,
    logFile,
  });
  if (code === 0) return 'schemas are up to date';
  const reason = lastError(readFrom(logFile, before.startsAt)) ?? `exit code ${code}`;
  throw new SvcError(`the migrations failed: ${reason}`, { hint: `their output is in ${logFile}` });
}

/** Starts the process in a session of its own, so that it outlives this one, and waits until it is ready. */
export async function startServices(
  settings: Settings,
  variables: Variables,
  how: { startedAt: Date; mode: Mode; ownsBroker: boolean },
): Promise<RunningServices> {
  const paths = pathsOf(settings);
  const { startedAt, mode, ownsBroker } = how;
  const program =
    mode !== 'distributed'
      ? programArguments(settings.root, 'all-in-one')
      : [join(import.meta.dirname, '../processes/supervisor.ts'), settings.dataDir, String(settings.ports.api)];
  const log = openLog(paths.servicesLog);
  const child = spawn(process.execPath, program, {
    cwd: settings.root,
    env: environmentFor(variables),
    detached: true,
    stdio: ['ignore', log.handle, log.handle],
  });
  let ended: string | undefined;
  child.once('exit', (code, signal) => (ended = signal ?? `exit code ${code}`));
  child.once('error', (error) => (ended = error.message));
  child.unref();
  closeSync(log.handle);
  const identity = child.pid === undefined ? undefined : findIdentity(child.pid);
  if (child.pid !== undefined && identity !== undefined) {
    const running = {
      pid: child.pid,
      identity,
      startedAt: startedAt.toISOString(),
      ports: settings.ports,
      mode,
      ownsBroker,
      ...(settings.lan === undefined ? {} : { lan: settings.lan }),
    };
    writeAtomically(paths.services, `${JSON.stringify(running)}\n`, OWNER_ONLY);
    const isReady = await waitUntil(
      async () => ((await isHealthy(settings.ports)) ? true : ended === undefined ? undefined : false),
      {
        withinSeconds: READY_SECONDS[mode],
        // The front asks every app each time, while they need the processors to load.
        everyMilliseconds: mode === 'distributed' ? 250 : 50,
      },
    );
    // Only ready while it lives: whoever answered on a port could be somebody else's process.
    if (isReady === true && ended === undefined) return running;
  }
  await stopServices(settings);
  const what = ended === undefined ? `were not ready within ${READY_SECONDS[mode]} s` : 'ended while starting';
  const reason = lastError(readFrom(paths.servicesLog, log.startsAt)) ?? ended ?? 'they gave no reason';
  throw new SvcError(`the services ${what}: ${reason}`, { hint: `their log is ${paths.servicesLog}` });
}

/** Lets the process finish what it has at hand. Returns what was done, in words. */
export async function stopServices(settings: Settings): Promise<string> {
  const file = pathsOf(settings).services;
  const running = findServices(settings);
  const isGone = () => (findServices(settings) === undefined ? true : undefined);
  let done = 'were not running';
  if (running !== undefined) {
    signal(running.pid, 'SIGTERM');
    done = 'stopped';
    const drainSeconds = DRAIN_SECONDS[running.mode];
    if ((await waitUntil(isGone, { withinSeconds: drainSeconds })) !== true) {
      signal(running.pid, 'SIGKILL');
      done = `killed: they had not finished after ${drainSeconds} s`;
      await waitUntil(isGone, { withinSeconds: 5 });
    }
  }
  rmSync(file, { force: true });
  // A supervisor that was killed leaves its processes running.
  const left = await stopLeftBehind(pathsOf(settings).processes);
  if (left > 0) done = `${done}; ${left} left behind by the supervisor stopped`;
  return done;
}

/** Whether the administration listener says that all services are ready. */
export async function isHealthy(ports: Ports): Promise<boolean> {
  try {
    const response = await fetch(`${urlOf(ports.admin)}/health/ready`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** The last line of a log that reports an error, as a person reads it. */
function lastError(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  // An entry of level error, what a service says of its own start, or an exception nobody caught; else what came last.
  const telling = /"level":\s*("(error|fatal)"|[56]0)|^Cannot start: |^\w*(Error|Exception)\b.*:/;
  const line = lines.findLast((candidate) => telling.test(candidate)) ?? lines.at(-1);
  return line === undefined ? undefined : (formatLogLine(line).split('\n')[0] ?? '').trim().slice(0, 400);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended by itself in between
  }
}
