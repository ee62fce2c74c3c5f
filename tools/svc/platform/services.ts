/** The process that outlives ./svc: all services (apps/all-in-one), or the supervisor of their processes. */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { findProcess, type ProcessRecord } from '../base/background-process.ts';
import { openLog, readFrom } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';
import { isReady } from '../base/wait-until.ts';
import { environmentFor, type Variables } from '../processes/env-files.ts';
import { stopOrphans } from '../processes/processes.ts';
import { lastError, programArguments, startProgram, stopProgram } from '../processes/programs.ts';
import { type DemoAcquirer, pathsOf, type Ports, type Settings, urlOf } from '../settings/settings.ts';

export interface RunningServices extends ProcessRecord {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly ports: Ports;
  readonly mode: Mode;
  readonly acquirer: DemoAcquirer;
  /** The network address of `--lan`. */
  readonly lan?: string;
  /** Whether its programs serve their metrics (`--observe`). */
  readonly observe?: boolean;
  /** Whether ./svc starts and stops the broker with the services. */
  readonly ownsBroker: boolean;
}

/** All services in one process with the embedded broker or RabbitMQ, or a process for each service with RabbitMQ. */
export type Mode = 'embedded' | 'rabbitmq' | 'distributed';

const READY_SECONDS: Readonly<Record<Mode, number>> = { embedded: 60, rabbitmq: 60, distributed: 120 };
/** The time in which the services finish current requests, messages and notifications after SIGTERM. */
const DRAIN_SECONDS: Readonly<Record<Mode, number>> = { embedded: 15, rabbitmq: 15, distributed: 50 };

export function findServices(settings: Settings): RunningServices | undefined {
  return findProcess<RunningServices>(pathsOf(settings).services);
}

export async function migrate(settings: Settings, variables: Variables, logFile: string): Promise<void> {
  const { handle, startsAt } = openLog(logFile);
  closeSync(handle);
  const options = { cwd: settings.root, env: environmentFor(variables), logFile };
  const code = await runProgram(process.execPath, programArguments(settings.root, 'all-in-one', 'migrate'), options);
  if (code === 0) return;
  const reason = lastError(readFrom(logFile, startsAt)) ?? `exit code ${code}`;
  throw new SvcError(`the migrations failed: ${reason}`, { hint: `their output is in ${logFile}` });
}

export async function startServices(
  settings: Settings,
  variables: Variables,
  { mode, ownsBroker }: Pick<RunningServices, 'mode' | 'ownsBroker'>,
): Promise<ProcessRecord> {
  const { root, dataDir, ports, acquirer, lan, observe = false } = settings;
  const paths = pathsOf(settings);
  const isDistributed = mode === 'distributed';
  return startProgram({
    name: 'the services:',
    root,
    program: isDistributed
      ? [join(import.meta.dirname, '../supervisor/main.ts'), dataDir, String(ports.api)]
      : programArguments(root, 'all-in-one'),
    variables,
    logFile: paths.servicesLog,
    processFile: paths.services,
    details: {
      ...{ startedAt: new Date().toISOString(), ports, mode, acquirer, ownsBroker, observe },
      ...(lan === undefined ? {} : { lan }),
    },
    isReady: () => hasStarted(ports),
    readySeconds: READY_SECONDS[mode] * PATIENCE,
    // At each check the reverse proxy calls every app, and this takes processor time from the apps that are starting.
    readyPollMs: isDistributed ? 250 : 50,
  });
}

/** Returns the outcome as a text. */
export async function stopServices(settings: Settings): Promise<string> {
  const paths = pathsOf(settings);
  const done = await stopProgram(paths.services, DRAIN_SECONDS[findServices(settings)?.mode ?? 'embedded']);
  // A killed supervisor leaves its processes running.
  const orphans = await stopOrphans(paths.processes);
  return orphans > 0 ? `${done}; also stopped ${orphans} processes of a killed supervisor` : done;
}

/**
 * Whether every service is ready, or waits for an administrator after a restore of its database (docs/backup.md): the
 * administrator needs the running platform to open it for payments.
 */
async function hasStarted(ports: Ports): Promise<boolean> {
  try {
    const response = await fetch(`${urlOf(ports.admin)}/health/ready`, { signal: AbortSignal.timeout(5_000) });
    const { services } = (await response.json()) as { services: Record<string, string> };
    return Object.values(services).every((state) => state === 'ready' || state.includes('not open for payments yet'));
  } catch {
    return false;
  }
}

export function isHealthy(ports: Ports): Promise<boolean> {
  return isReady(urlOf(ports.admin));
}
