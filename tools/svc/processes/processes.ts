/** What runs below the supervisor, in `run/processes.json`: for ./svc status, for tests, and for whoever cleans up. */
import { rmSync } from 'node:fs';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { isAlive } from '../base/process-identity.ts';
import { SERVICES } from '../base/settings.ts';
import { waitUntil } from '../base/wait-until.ts';

/** In the order in which they start; they stop in the opposite one. */
export const SUPERVISED = ['simulated-acquirer', ...SERVICES, 'front'] as const;
export type Supervised = (typeof SUPERVISED)[number];

export interface SupervisedProcess {
  readonly pid: number;
  /** Tells the process from a later one with the same id. */
  readonly identity: string;
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

export function isRunning(known: SupervisedProcess | undefined): known is SupervisedProcess {
  return known !== undefined && isAlive(known.pid, known.identity);
}

/** Stops what a supervisor that was killed has left, the front first. Returns how many processes that were. */
export async function stopLeftBehind(file: string): Promise<number> {
  const processes = readProcesses(file);
  let stopped = 0;
  for (const app of [...SUPERVISED].reverse()) {
    const known = processes[app];
    if (!isRunning(known)) continue;
    stopped++;
    const isGone = () => (isRunning(known) ? undefined : true);
    kill(known.pid, 'SIGTERM');
    if ((await waitUntil(isGone, { withinSeconds: STOP_SECONDS })) === true) continue;
    kill(known.pid, 'SIGKILL');
    await waitUntil(isGone, { withinSeconds: 5 });
  }
  rmSync(file, { force: true });
  return stopped;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended by itself in between
  }
}
