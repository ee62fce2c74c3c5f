import { setTimeout as pause } from 'node:timers/promises';

/** Asks again and again until the answer is not undefined, or the time is over (undefined). */
export async function waitUntil<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  limits: { withinSeconds: number; everyMilliseconds?: number },
): Promise<T | undefined> {
  const deadline = performance.now() + limits.withinSeconds * 1000;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (performance.now() >= deadline) return undefined;
    await pause(limits.everyMilliseconds ?? 50);
  }
}

/** Whether a service says that it is ready. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
