import { Inject, Injectable } from '@nestjs/common';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import { MerchantRetrievalConfig } from '../config.js';

/**
 * Maximum number of token buckets. If there are more keys, the bucket of the least recently used key is dropped, and
 * this key later starts with a full bucket.
 */
const MAX_KEYS = 10_000;

/** Whether a call is allowed, and the remaining allowance of the key. */
export interface Allowance {
  readonly isAllowed: boolean;
  /** Number of further calls that are allowed now. */
  readonly remaining: number;
  /** Seconds until the next call is allowed, or 0 when a call is allowed now. */
  readonly retryAfterSeconds: number;
  /** Seconds until the bucket is full. */
  readonly resetSeconds: number;
}

/**
 * Limits the calls of each key with a token bucket, on this replica only (M4). The library uses the monotonic clock of
 * the process, so the limit does not depend on corrections of the system clock.
 */
@Injectable()
export class KeyLimit {
  private readonly buckets = new LRUCache<string, TokenBucket>({ max: MAX_KEYS });

  constructor(@Inject(MerchantRetrievalConfig) private readonly config: MerchantRetrievalConfig) {}

  /** Consumes one call of the key if the key has a call left. */
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

  /** The value of the header `RateLimit-Policy`: the burst, and the seconds in which an empty bucket becomes full. */
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
