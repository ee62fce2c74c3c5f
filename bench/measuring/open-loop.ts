/**
 * Load that does not wait for answers: work begins at times drawn beforehand, and its latency counts from the time it
 * was due. This shows when a system stalls; a loop that waits for each answer would hide it.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface OpenLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Work does not begin, and counts as failed, while this much is already running. */
  readonly maxInFlight: number;
  /** @param dueAt performance.now() at which the work was due to begin */
  readonly work: (dueAt: number) => Promise<void>;
}

export interface OpenLoadResult {
  readonly started: number;
  readonly refused: number;
  readonly errors: readonly unknown[];
}

/** Begins work as a Poisson process, and returns when all work has ended. */
export async function runOpenLoad({ perSecond, seconds, maxInFlight, work }: OpenLoad): Promise<OpenLoadResult> {
  const draw = seededRandom(42);
  const inFlight = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let begun = 0;
  let refused = 0;
  for (let dueAt = startedAt; dueAt < endsAt;) {
    for (const now = performance.now(); dueAt <= now && dueAt < endsAt;) {
      if (inFlight.size >= maxInFlight) refused++;
      else {
        begun++;
        const one: Promise<void> = work(dueAt)
          .catch((error: unknown) => void errors.push(error))
          .finally(() => inFlight.delete(one));
        inFlight.add(one);
      }
      dueAt += (-Math.log(1 - draw()) / perSecond) * 1_000;
    }
    await pause(Math.max(1, Math.min(dueAt - performance.now(), 5)));
  }
  await Promise.all(inFlight);
  return { started: begun, refused, errors };
}

/** Runs `workers` in parallel; each begins again as soon as its work has ended. Returns the number of runs. */
export async function runClosedLoad(workers: number, seconds: number, work: () => Promise<void>): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < endsAt) {
        await work();
        done++;
      }
    }),
  );
  return done;
}

/** Mulberry32: the same arrival times in every round and for every system. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
