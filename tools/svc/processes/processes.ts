/** What runs below the supervisor, in `run/processes.json`: for ./svc status, for tests, and for the next ./svc down. */
import { rmSync } from 'node:fs';
import { type KnownProcess, isRunning, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { SERVICES } from '../base/settings.ts';

/** In the order in which they start; they stop in the opposite one. */
export const SUPERVISED = ['simulated-acquirer', ...SERVICES, 'front'] as const;
export type Supervised = (typeof SUPERVISED)[number];

export interface SupervisedProcess extends KnownProcess {
  readonly port: number;
  /** How often it was started again since the supervisor started, on purpose or not. */
  readonly restarts: number;
}

/** What `./svc restart` asks the supervisor for. */
export interface RestartRequest {
  readonly id: string;
  readonly apps: readonly Supervised[];
}

export interface RestartOutcome {
  readonly id: string;
  readonly restarted: Supervised[];
  /** The app that was not ready again in time; those after it were left alone. */
  readonly failed: Supervised | undefined;
}

export type Processes = Partial<Record<Supervised, SupervisedProcess>>;

const STOP_SECONDS = 15;

export function readProcesses(file: string): Processes {
  return (readJson(file) as Processes | undefined) ?? {};
}

export function writeProcesses(file: string, processes: Processes): void {
  writeAtomically(file, `${JSON.stringify(processes, null, 2)}\n`, OWNER_ONLY);
}

/** Stops what a supervisor that was killed has left, the front first. Returns how many processes that were. */
export async function stopOrphans(file: string): Promise<number> {
  const processes = readProcesses(file);
  let stopped = 0;
  for (const app of [...SUPERVISED].reverse()) {
    const known = processes[app];
    if (!isRunning(known)) continue;
    stopped++;
    await stopProcess(known, STOP_SECONDS);
  }
  rmSync(file, { force: true });
  return stopped;
}
