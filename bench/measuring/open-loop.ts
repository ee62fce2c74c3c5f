/**
 * Load that does not wait for answers: work begins at times drawn beforehand, and its latency counts from the time it
 * was to begin. A system that stalls is then seen to stall, which a loop that waits for each answer would hide.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface OpenLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Work that does not begin because this much is already under way; it counts as failed. */
  readonly underWayMax: number;
  /** @param dueAt performance.now() at which it was to begin */
  readonly work: (dueAt: number) => Promise<void>;
}

export interface OpenLoadResult {
  readonly begun: number;
  readonly refused: number;
  readonly errors: readonly unknown[];
}

/** Begins work as a Poisson process, and returns when all of it has ended. */
export async function runOpenLoad({ perSecond, seconds, underWayMax, work }: OpenLoad): Promise<OpenLoadResult> {
  const draw = seededRandom(42);
  const underWay = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let begun = 0;
  let refused = 0;
  for (let dueAt = startedAt; dueAt < endsAt;) {
    for (const now = performance.now(); dueAt <= now && dueAt < endsAt;) {
      if (underWay.size >= underWayMax) refused++;
      else {
        begun++;
        const one: Promise<void> = work(dueAt)
          .catch((error: unknown) => void errors.push(error))
          .finally(() => underWay.delete(one));
        underWay.add(one);
      }
      dueAt += (-Math.log(1 - draw()) / perSecond) * 1_000;
    }
    await pause(Math.max(1, Math.min(dueAt - performance.now(), 5)));
  }
  await Promise.all(underWay);
  return { begun, refused, errors };
}

/** Work by `workers` at once, each beginning again as soon as it has ended; returns how often in all. */
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

/** Mulberry32: the same arrivals in every round and for every system. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
