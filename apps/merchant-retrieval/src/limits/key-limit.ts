import { Inject, Injectable } from '@nestjs/common';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import { MerchantRetrievalConfig } from '../config.js';

/** Most keys whose calls are counted; of more, the one that has not called for longest begins anew. */
const KEYS_MAX = 10_000;

/** Whether a call may be made, and what the key has left. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** Calls that can be made at once. */
  readonly remaining: number;
  /** Seconds until the next call is allowed; 0 when one is now. */
  readonly retryAfterSeconds: number;
  /** Seconds until the burst is whole again. */
  readonly resetSeconds: number;
}

/**
 * A token bucket for each key, on this replica alone (M4). It goes by the process's own monotonic time, as the library has
 * it: a throttle does not have to agree with any other clock.
 */
@Injectable()
export class KeyLimit {
  private readonly buckets = new LRUCache<string, TokenBucket>({ max: KEYS_MAX });

  constructor(@Inject(MerchantRetrievalConfig) private readonly config: MerchantRetrievalConfig) {}

  take(keyId: string): Allowance {
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    const bucket = this.bucketOf(keyId);
    const isAllowed = bucket.tryRemoveTokens(1);
    return {
      isAllowed,
      remaining: Math.floor(bucket.content),
      retryAfterSeconds: Math.ceil(bucket.getWaitTime(1) / 1000),
      resetSeconds: Math.ceil((burst - bucket.content) / rate),
    };
  }

  /** As `RateLimit-Policy` has it: so many calls in so many seconds. */
  get policy(): string {
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    return `"key";q=${burst};w=${Math.ceil(burst / rate)}`;
  }

  private bucketOf(keyId: string): TokenBucket {
    const known = this.buckets.get(keyId);
    if (known) return known;
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: rate, interval: 'second' });
    bucket.content = burst;
    this.buckets.set(keyId, bucket);
    return bucket;
  }
}
