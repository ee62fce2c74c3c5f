import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';

const KEPT_MS = 1_000;

/**
 * A cache with a TTL of one second: long enough to avoid most queries, short enough that a revoked key is refused in time (A6 allows
 * 5 s; the rest is for the event to arrive). Concurrent calls for a key share one query, so a slow database gets no more queries
 * than a fast one.
 */
export class TtlCache<T extends NonNullable<unknown>> {
  private readonly found: LRUCache<string, T, () => Promise<T | undefined>>;

  constructor(clock: Clock, max = 10_000) {
    this.found = new LRUCache({
      max,
      // An entry that is exactly one second old is still valid.
      ttl: KEPT_MS - 1,
      ttlResolution: 0,
      perf: { now: () => clock.now().getTime() },
      fetchMethod: (_name, _stale, { context: lookUp }) => lookUp(),
    });
  }

  /** Caches neither failures nor `undefined`, so that a new key works at once. */
  find(name: string, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.found.fetch(name, { context: lookUp });
  }
}
