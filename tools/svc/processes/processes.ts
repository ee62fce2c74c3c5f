/** The child processes of the supervisor, which it records in `run/processes.json` for other commands. */
import { rmSync } from 'node:fs';
import { isRunning, type ProcessRecord, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { SERVICES } from '../settings/settings.ts';

/** The apps in the order in which they start. They stop in the reverse order. */
export const SUPERVISED_APPS = ['simulated-acquirer', ...SERVICES, 'front'] as const;
export type SupervisedAppName = (typeof SUPERVISED_APPS)[number];

export interface SupervisedProcess extends ProcessRecord {
  readonly port: number;
  /** The number of planned and unplanned restarts since the supervisor started. */
  readonly restarts: number;
  /** The process of `./svc nx serve` that has taken the place of the app. */
  readonly servedBy?: number;
}

export type Processes = Partial<Record<SupervisedAppName, SupervisedProcess>>;

const STOP_SECONDS = 15;

export function readProcesses(file: string): Processes {
  return (readJson(file) as Processes | undefined) ?? {};
}

export function writeProcesses(file: string, processes: Processes): void {
  writeAtomically(file, `${JSON.stringify(processes, null, 2)}\n`, OWNER_ONLY);
}

/** Stops the processes of a killed supervisor, first the reverse proxy. Returns their number. */
export async function stopOrphans(file: string): Promise<number> {
  const processes = readProcesses(file);
  let stoppedCount = 0;
  for (const app of [...SUPERVISED_APPS].reverse()) {
    const record = processes[app];
    if (!isRunning(record)) continue;
    stoppedCount++;
    await stopProcess(record, STOP_SECONDS);
  }
  rmSync(file, { force: true });
  return stoppedCount;
}
