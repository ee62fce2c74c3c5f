/**
 * Generates open-loop load: work starts at random times that do not depend on the responses. Its latency is measured
 * from the time at which it was due, so a stalled system shows a high latency. A closed loop waits for each response
 * before it starts more work, so it would hide the stall.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface OpenLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Limit of work that runs at the same time. Above it, work that is due is not started and counts as refused. */
  readonly maxInFlight: number;
  /** @param dueAt performance.now() at which the work was due to start */
  readonly work: (dueAt: number) => Promise<void>;
}

export interface OpenLoadResult {
  readonly started: number;
  readonly refused: number;
  readonly errors: readonly unknown[];
}

/** Starts work at the times of a Poisson process, and returns when all work has ended. */
export async function runOpenLoad({ perSecond, seconds, maxInFlight, work }: OpenLoad): Promise<OpenLoadResult> {
  const nextRandom = seededRandom(42);
  const inFlight = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let started = 0;
  let refused = 0;
  for (let dueAt = startedAt; dueAt < endsAt;) {
    for (const now = performance.now(); dueAt <= now && dueAt < endsAt;) {
      if (inFlight.size >= maxInFlight) refused++;
      else {
        started++;
        const running: Promise<void> = work(dueAt)
          .catch((error: unknown) => void errors.push(error))
          .finally(() => inFlight.delete(running));
        inFlight.add(running);
      }
      dueAt += (-Math.log(1 - nextRandom()) / perSecond) * 1_000;
    }
    await pause(Math.max(1, Math.min(dueAt - performance.now(), 5)));
  }
  await Promise.all(inFlight);
  return { started, refused, errors };
}

/**
 * Runs `workers` loops in parallel. Each loop repeats the work as soon as it has ended, while `shouldContinue`. Returns
 * how often the work was done.
 */
export async function runClosedLoad(
  workers: number,
  shouldContinue: () => boolean,
  work: () => Promise<unknown>,
): Promise<number> {
  let runs = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (shouldContinue()) {
        await work();
        runs++;
      }
    }),
  );
  return runs;
}

/** Returns a function that returns true for this time from now. */
export function forSeconds(seconds: number): () => boolean {
  const endsAt = performance.now() + seconds * 1_000;
  return () => performance.now() < endsAt;
}

/**
 * A generator of pseudo-random numbers (Mulberry32). The fixed seed gives the same start times in every round and for
 * every system.
 */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
