import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.js';

const KEPT_MS = 1_000;

/**
 * Caches results of queries for a second: long enough to save most queries, short enough that a revoked key is rejected in time
 * (A6 allows 5 s; the rest is for the event to arrive). Callers that come while a query is under way share it, so a slow database
 * gets no more queries than a quick one.
 */
export class KeptForASecond<T extends NonNullable<unknown>> {
  private readonly found: LRUCache<string, T, () => Promise<T | undefined>>;

  constructor(clock: Clock, max = 10_000) {
    this.found = new LRUCache({
      max,
      // An entry of exactly this age is still valid.
      ttl: KEPT_MS - 1,
      ttlResolution: 0,
      perf: { now: () => clock.now().getTime() },
      fetchMethod: (_name, _stale, { context: lookUp }) => lookUp(),
    });
  }

  /** Neither a failure nor `undefined` is cached: a new row is visible at once. */
  find(name: string, lookUp: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.found.fetch(name, { context: lookUp });
  }
}
