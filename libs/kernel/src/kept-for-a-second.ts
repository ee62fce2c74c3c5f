import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';

const KEPT_MS = 1_000;

/**
 * What look-ups found, for a second: long enough to spare the database most of them, short enough that a key which is
 * revoked is refused in time (A6 allows 5 s; the rest is for the event to arrive). All who ask while a look-up is under
 * way wait for that one, so a slow database is not asked more often than a quick one.
 */
export class KeptForASecond<T extends NonNullable<unknown>> {
  private readonly found: LRUCache<string, T, () => Promise<T | undefined>>;

  constructor(clock: Clock, max = 10_000) {
    this.found = new LRUCache({
      max,
      // What is exactly as old is given once more.
      ttl: KEPT_MS - 1,
      ttlResolution: 0,
      perf: { now: () => clock.now().getTime() },
      fetchMethod: (_name, _stale, { context: lookUp }) => lookUp(),
    });
  }

  /** Neither a failure nor `undefined` is kept: what has just been made works at once. */
  find(name: string, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.found.fetch(name, { context: lookUp });
  }
}
