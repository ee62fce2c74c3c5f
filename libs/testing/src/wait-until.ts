/**
 * Waits for something that happens in another process, where no clock of ours can be moved. The deadline is
 * mandatory, and the last state seen is in the error.
 */
export async function waitUntil<T>(
  what: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined | false>,
): Promise<T> {
  const until = Date.now() + deadlineMs;
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
  throw new Error(`Waited ${deadlineMs} ms for ${what}; last: ${String(last)}`, { cause: last });
}
