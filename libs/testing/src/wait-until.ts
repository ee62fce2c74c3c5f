/** Factor by which the deadlines of tests are multiplied on a busy machine. `./svc test` sets it. */
export const PATIENCE = Number(process.env['SVC_PATIENCE'] ?? 1);

/** The pause between two probes, as a share of the time that has passed. */
const PAUSE_SHARE = 0.1;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;

/**
 * Calls `probe` repeatedly until it returns a value other than undefined and false. Use it to wait for changes that do
 * not depend on the injected clock, for example in another process. The error at the deadline contains the last result
 * of `probe`. The pauses get longer with the time that has passed: the probes of a long wait would otherwise delay the
 * processes that the test waits for.
 * @param condition what the test waits for, as a noun or with "to", for the error message
 * @param deadlineMs deadline on a machine without other load, which is multiplied by {@link PATIENCE}
 * @param minPauseMs shortest pause, for probes that cost much
 */
export async function waitUntil<T>(
  condition: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined | false>,
  minPauseMs = MIN_PAUSE_MS,
): Promise<T> {
  const patientMs = deadlineMs * PATIENCE;
  const from = Date.now();
  const passedMs = (): number => Date.now() - from;
  let last: unknown;
  while (passedMs() < patientMs) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    const pauseMs = Math.max(Math.min(passedMs() * PAUSE_SHARE, MAX_PAUSE_MS), minPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`Waited ${patientMs} ms for ${condition}; last: ${String(last)}`, { cause: last });
}

/**
 * Waits this long. Only for a test in which the time itself matters: an outage that lasts 30 s, a limit that must not be
 * exceeded within a second, or a server that does not say when it is ready. Any other test waits for a change with
 * {@link waitUntil}.
 */
export async function letTimePass(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
