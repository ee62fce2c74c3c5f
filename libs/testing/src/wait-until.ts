/** Factor for the deadlines of tests on a busy machine; `./svc test` sets it. */
export const PATIENCE = Number(process.env['SVC_PATIENCE'] ?? 1);

/**
 * Waits for something that happens in another process, where no injected clock helps. The deadline is mandatory, and the error
 * contains the last observed state.
 *
 * @param deadlineMs on a quiet machine; multiplied by {@link PATIENCE}
 */
export async function waitUntil<T>(
  what: string,
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
  throw new Error(`Waited ${patientMs} ms for ${what}; last: ${String(last)}`, { cause: last });
}
