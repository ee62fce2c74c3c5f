import { Inject, Injectable } from '@nestjs/common';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import { MerchantRetrievalConfig } from '../config.js';

/** Maximum keys with a count; beyond it, the least recently used key starts again with a full bucket. */
const MAX_KEYS = 10_000;

/** Whether a call is allowed, and the remaining allowance of the key. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** Calls that are allowed at once. */
  readonly remaining: number;
  /** Seconds until the next call is allowed; 0 when one is allowed now. */
  readonly retryAfterSeconds: number;
  /** Seconds until the bucket is full. */
  readonly resetSeconds: number;
}

/**
 * A token bucket for each key, on this replica only (M4). The library uses the monotonic time of the process: a rate limit does
 * not depend on other clocks.
 */
@Injectable()
export class KeyLimit {
  private readonly buckets = new LRUCache<string, TokenBucket>({ max: MAX_KEYS });

  constructor(@Inject(MerchantRetrievalConfig) private readonly config: MerchantRetrievalConfig) {}

  tryConsume(keyId: string): Allowance {
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    const bucket = this.getBucket(keyId);
    const isAllowed = bucket.tryRemoveTokens(1);
    return {
      isAllowed,
      remaining: Math.floor(bucket.content),
      retryAfterSeconds: Math.ceil(bucket.getWaitTime(1) / 1000),
      resetSeconds: Math.ceil((burst - bucket.content) / rate),
    };
  }

  /** In the format of `RateLimit-Policy`: number of calls, and seconds. */
  get policy(): string {
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    return `"key";q=${burst};w=${Math.ceil(burst / rate)}`;
  }

  private getBucket(keyId: string): TokenBucket {
    const existing = this.buckets.get(keyId);
    if (existing) return existing;
    const { SVC_RETRIEVAL_CALLS_PER_SECOND: rate, SVC_RETRIEVAL_BURST: burst } = this.config;
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: rate, interval: 'second' });
    bucket.content = burst;
    this.buckets.set(keyId, bucket);
    return bucket;
  }
}
