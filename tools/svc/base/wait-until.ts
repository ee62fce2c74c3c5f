import { setTimeout as pause } from 'node:timers/promises';

/** Returns the first value of `probe` that is neither undefined nor false; undefined after `withinSeconds`. */
export async function waitUntil<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  limits: { withinSeconds: number; everyMilliseconds?: number },
): Promise<T | undefined> {
  const deadline = performance.now() + limits.withinSeconds * 1000;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() >= deadline) return undefined;
    await pause(limits.everyMilliseconds ?? 50);
  }
}

/** Whether the readiness endpoint of a service returns 200. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
