/** Factor by which the deadlines of tests are multiplied on a busy machine. `./svc test` sets it. */
export const PATIENCE = Number(process.env['SVC_PATIENCE'] ?? 1);

/**
 * Calls `probe` repeatedly until it returns a value other than undefined and false. Use it to wait for changes that do
 * not depend on the injected clock, for example in another process. The error at the deadline contains the last result
 * of `probe`.
 * @param condition what the test waits for, as a noun or with "to", for the error message
 * @param deadlineMs deadline on a machine without other load, which is multiplied by {@link PATIENCE}
 */
export async function waitUntil<T>(
  condition: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined | false>,
): Promise<T> {
  const patientMs = deadlineMs * PATIENCE;
  const until = Date.now() + patientMs;
  let last: unknown;
  while (Date.now() < until) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Waited ${patientMs} ms for ${condition}; last: ${String(last)}`, { cause: last });
}
