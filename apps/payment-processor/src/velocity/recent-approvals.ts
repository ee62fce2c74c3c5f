import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { LRUCache } from 'lru-cache';
import { HOUR_MS } from './velocity-limits.js';

const MAX_KEYS = 50_000;
const BUCKET_MS = HOUR_MS / 2;

interface Buckets {
  /** Number of the current half hour. */
  readonly bucket: number;
  readonly current: number;
  /** Approvals of the half hour before. */
  readonly previous: number;
}

/**
 * The approvals of number ranges, addresses, partners and sites since their last decline, and within the last half hour
 * to hour, as this process has settled them. A regular payment therefore writes no row: its approval is reported to the
 * counter with the next decline. After a restart the approvals are missing, so that the limits are stricter for an hour.
 * Keys contain hashes, and are only in memory.
 */
@Injectable()
export class RecentApprovals {
  private readonly counts = new LRUCache<string, Buckets>({ max: MAX_KEYS });

  constructor(@Inject(Clock) private readonly clock: Clock) {}

  add(keys: readonly string[]): void {
    for (const key of keys) {
      const buckets = this.read(key);
      this.counts.set(key, { ...buckets, current: buckets.current + 1 });
    }
  }

  count(key: string): number {
    const { current, previous } = this.read(key);
    return current + previous;
  }

  /** The approvals that a decline reports to the counter. */
  take(key: string): number {
    const count = this.count(key);
    this.counts.delete(key);
    return count;
  }

  private read(key: string): Buckets {
    const bucket = Math.floor(this.clock.monotonicMs() / BUCKET_MS);
    const known = this.counts.peek(key);
    if (known?.bucket === bucket) return known;
    return { bucket, current: 0, previous: known?.bucket === bucket - 1 ? known.current : 0 };
  }
}
