import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';

const TTL_MS = 1_000;

/**
 * A cache with a TTL of one second: long enough to avoid most queries, and short enough that a revoked API key is
 * rejected in time (A6 allows 5 s, of which 4 s remain for the delivery of the event). Concurrent calls for the same
 * key share one query, so a slow database does not get more queries.
 */
export class TtlCache<T extends NonNullable<unknown>> {
  private readonly cache: LRUCache<string, T, () => Promise<T | undefined>>;

  constructor(clock: Clock, max = 10_000) {
    this.cache = new LRUCache({
      max,
      // LRUCache still returns an entry whose age is exactly its `ttl`.
      ttl: TTL_MS - 1,
      ttlResolution: 0,
      // For LRUCache, an entry that was stored at 0 has no age. The time of the computer may be set back.
      perf: { now: () => clock.monotonicMs() + 1 },
      // LRUCache passes the context of `fetch` to this function. Here the context is the caller's `load`.
      fetchMethod: (_key, _stale, { context: load }) => load(),
    });
  }

  /**
   * Returns the cached value, or loads it. Errors and `undefined` are not cached, so that a new API key is accepted
   * immediately.
   */
  find(key: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.cache.fetch(key, { context: load });
  }

  /** Loads the value again at the next call. */
  forget(key: string): void {
    this.cache.delete(key);
  }
}
