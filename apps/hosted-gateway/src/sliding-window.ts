import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Clock } from '@svc/kernel';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Interval at which expired counters are deleted. */
const SWEEP_MS = 60_000;

/** The calls of one key. Times are in milliseconds since 1970. */
interface Calls {
  /** The times at which calls leave the window, ascending. Entries before the index `first` have left the window. */
  readonly ends: number[];
  first: number;
  resetsAt: number;
  /** 0 if the key is not blocked. */
  blockedUntil: number;
}

/**
 * Counts calls within a sliding window, with the same results as the default storage of the library (the test compares
 * them). At each call the default storage copies the times of all calls in the window. This takes 0.03 ms for an IP
 * address with 3000 calls a minute, and 0.2 ms with 18 000 calls, for example behind a proxy that is not trusted. This
 * class reads each time only when it leaves the window, so a call takes less than a microsecond.
 */
export class SlidingWindow implements ThrottlerStorage {
  private readonly keys = new Map<string, Calls>();
  private sweepAt = 0;

  constructor(private readonly clock: Clock) {}

  /** @param blockDuration milliseconds, more than 0, for which a key is blocked after it has exceeded the limit */
  increment(key: string, ttl: number, limit: number, blockDuration: number): Promise<ThrottlerRecord> {
    const now = this.clock.now().getTime();
    this.sweep(now);
    let calls = this.keys.get(key);
    if (calls === undefined) this.keys.set(key, (calls = { ends: [], first: 0, resetsAt: now + ttl, blockedUntil: 0 }));
    removeExpired(calls, now);
    if (calls.resetsAt <= now) calls.resetsAt = now + ttl;
    if (calls.blockedUntil > 0 && calls.blockedUntil <= now) {
      calls.blockedUntil = 0;
      calls.ends.length = calls.first = 0;
    }
    if (calls.blockedUntil === 0) {
      calls.ends.push(now + ttl);
      if (calls.ends.length - calls.first > limit) calls.blockedUntil = now + blockDuration;
    }
    return Promise.resolve({
      totalHits: calls.ends.length - calls.first,
      timeToExpire: Math.ceil((calls.resetsAt - now) / 1_000),
      isBlocked: calls.blockedUntil > 0,
      timeToBlockExpire: calls.blockedUntil > 0 ? Math.ceil((calls.blockedUntil - now) / 1_000) : 0,
    });
  }

  /** Number of keys with a counter. */
  get size(): number {
    return this.keys.size;
  }

  private sweep(now: number): void {
    if (now < this.sweepAt) return;
    this.sweepAt = now + SWEEP_MS;
    for (const [key, calls] of this.keys) {
      removeExpired(calls, now);
      if (calls.ends.length === 0 && calls.blockedUntil <= now && calls.resetsAt <= now) this.keys.delete(key);
    }
  }
}

function removeExpired(calls: Calls, now: number): void {
  const { ends } = calls;
  while (calls.first < ends.length && ends[calls.first]! <= now) calls.first++;
  // Removes expired entries only when they are at least half of the array, so that on average each entry is moved about
  // once.
  if (calls.first * 2 < ends.length) return;
  ends.splice(0, calls.first);
  calls.first = 0;
}
