import { DomainError } from '@svc/kernel';
import pLimit from 'p-limit';

/** Of the ten connections of a replica (SVC_DATABASE_POOL_MAX); the others are left to delivery. */
export const READS_MAX = 2;
/** Reads that wait for one of them: at some milliseconds each, for far less than a request may take. */
export const WAITING_MAX = 50;

/** Merchants who read their deliveries take no connection that delivery needs: notifications are sent while reads wait. */
export class ReadLimit {
  private readonly slots = pLimit(READS_MAX);

  /** Throws `service.not-ready`, which may be repeated, when too many reads wait. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.slots.activeCount + this.slots.pendingCount >= READS_MAX + WAITING_MAX)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.slots(read);
  }
}
