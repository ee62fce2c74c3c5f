import { DomainError } from '@svc/kernel';
import pLimit from 'p-limit';

/** Of the ten connections of a replica (SVC_DATABASE_POOL_MAX); delivery uses the others. */
export const MAX_READS = 2;
/** At some milliseconds for each read, the last one waits far shorter than the timeout of a request. */
export const MAX_WAITING_READS = 50;

/** Keeps merchants who read their deliveries from using the database connections that delivery needs. */
export class ReadLimit {
  private readonly slots = pLimit(MAX_READS);

  /** Throws the retryable error `service.not-ready` when too many reads wait. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.slots.activeCount + this.slots.pendingCount >= MAX_READS + MAX_WAITING_READS)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.slots(read);
  }
}
