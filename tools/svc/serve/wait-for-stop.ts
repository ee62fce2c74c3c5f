import { once } from 'node:events';
import { isRunning, type ProcessRecord } from '../base/background-process.ts';
import { waitUntil } from '../base/wait-until.ts';

const POLL_MS = 500;

/** Waits for a signal, or for the end of ./svc or of Nx, which started this process. */
export async function waitForStop(): Promise<void> {
  const signals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name));
  await Promise.race([...signals, waitForEndOfCaller()]);
}

export async function waitForEndOfCaller(): Promise<void> {
  const parent = process.ppid;
  const caller = process.env['SVC_CALLER'];
  const record = caller === undefined ? undefined : (JSON.parse(caller) as ProcessRecord);
  const hasEnded = () => process.ppid !== parent || (record !== undefined && !isRunning(record));
  await waitUntil(hasEnded, { withinSeconds: Number.POSITIVE_INFINITY, everyMilliseconds: POLL_MS });
}
