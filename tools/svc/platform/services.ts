/**
 * The one process that outlives ./svc: all services together (apps/all-in-one), or the supervisor of a process for
 * each (supervisor.ts). Started, found again, asked for its health, stopped.
 */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { type KnownProcess, findProcess } from '../base/background-process.ts';
import { openLog, readFrom } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { runProgram } from '../base/run-program.ts';
import { type Ports, type Settings, pathsOf, urlOf } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { isReady } from '../base/wait-until.ts';
import { type Variables, environmentFor } from '../processes/env-files.ts';
import { stopOrphans } from '../processes/processes.ts';
import { lastError, programArguments, startProgram, stopProgram } from '../processes/programs.ts';

export interface RunningServices extends KnownProcess {
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
  return findProcess<RunningServices>(pathsOf(settings).services);
}

/** Brings every schema to what the code expects. */
export async function migrate(settings: Settings, variables: Variables, logFile: string): Promise<string> {
  const before = openLog(logFile);
  closeSync(before.handle);
  const options = { cwd: settings.root, env: environmentFor(variables), logFile };
  const { code } = await runProgram(
    process.execPath,
    programArguments(settings.root, 'all-in-one', 'migrate'),
    options,
  );
  if (code === 0) return 'schemas are up to date';
  const reason = lastError(readFrom(logFile, before.startsAt)) ?? `exit code ${code}`;
  throw new SvcError(`the migrations failed: ${reason}`, { hint: `their output is in ${logFile}` });
}

/** Starts the process and waits until it is ready. */
export async function startServices(
  settings: Settings,
  variables: Variables,
  { mode, ownsBroker }: Pick<RunningServices, 'mode' | 'ownsBroker'>,
): Promise<KnownProcess> {
  const { root, dataDir, ports, lan } = settings;
  const paths = pathsOf(settings);
  const isDistributed = mode === 'distributed';
  return startProgram({
    name: 'the services:',
    root,
    program: isDistributed
      ? [join(import.meta.dirname, '../processes/supervisor.ts'), dataDir, String(ports.api)]
      : programArguments(root, 'all-in-one'),
    variables,
    logFile: paths.servicesLog,
    processFile: paths.services,
    notes: { startedAt: new Date().toISOString(), ports, mode, ownsBroker, ...(lan === undefined ? {} : { lan }) },
    isReady: () => isHealthy(ports),
    readySeconds: READY_SECONDS[mode],
    // The front asks every app each time, while they need the processors to load.
    askEveryMilliseconds: isDistributed ? 250 : 50,
  });
}

/** Lets the process finish what it has at hand. Returns what was done, in words. */
export async function stopServices(settings: Settings): Promise<string> {
  const paths = pathsOf(settings);
  const done = await stopProgram(paths.services, DRAIN_SECONDS[findServices(settings)?.mode ?? 'embedded']);
  // A supervisor that was killed leaves its processes running.
  const left = await stopOrphans(paths.processes);
  return left > 0 ? `${done}; ${left} left behind by the supervisor stopped` : done;
}

/** Whether the administration listener says that all services are ready. */
export function isHealthy(ports: Ports): Promise<boolean> {
  return isReady(urlOf(ports.admin));
}
