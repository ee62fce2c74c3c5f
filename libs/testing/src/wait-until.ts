/** How many times longer than a quiet machine needs the tests wait; `./svc test` says it. */
export const PATIENCE = Number(process.env['SVC_PATIENCE'] ?? 1);

/**
 * Waits for something that happens in another process, where no clock of ours can be moved. The deadline is
 * mandatory, and the last state seen is in the error.
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
