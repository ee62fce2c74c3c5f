import { DomainError } from '@svc/kernel';
import pLimit from 'p-limit';

/**
 * Maximum number of concurrent reads. A replica has ten database connections (SVC_DATABASE_POOL_MAX), and the delivery
 * of notifications needs the rest of them.
 */
export const MAX_READS = 2;
/** A read takes some milliseconds, so even the last waiting read begins long before the timeout of its request. */
export const MAX_WAITING_READS = 50;

/**
 * Limits how many database connections serve merchants who read their deliveries, because the delivery of notifications
 * needs the rest of the connections.
 */
export class ReadLimit {
  private readonly limit = pLimit(MAX_READS);

  /** Throws the retryable error `service.not-ready` when too many reads wait. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.limit.activeCount + this.limit.pendingCount >= MAX_READS + MAX_WAITING_READS)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.limit(read);
  }
}
