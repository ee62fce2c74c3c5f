import { DomainError } from '@svc/kernel';
import pLimit from 'p-limit';

/**
 * Concurrent reads. A replica has ten database connections (SVC_DATABASE_POOL_MAX); the delivery of notifications uses
 * the others.
 */
export const MAX_READS = 2;
/** A read takes some milliseconds, so the last of these waits much shorter than the timeout of a request. */
export const MAX_WAITING_READS = 50;

/**
 * Limits the database connections of merchants who read their deliveries: the delivery of notifications needs the
 * others.
 */
export class ReadLimit {
  private readonly slots = pLimit(MAX_READS);

  /** Throws the retryable error `service.not-ready` when too many reads wait. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.slots.activeCount + this.slots.pendingCount >= MAX_READS + MAX_WAITING_READS)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.slots(read);
  }
}
