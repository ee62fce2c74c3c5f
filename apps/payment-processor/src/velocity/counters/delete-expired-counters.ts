import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { LONGEST_WINDOW_MS } from '../velocity-limits.js';
import { VelocityCounterRepository } from './velocity-counter.repository.js';

const PAGE_SIZE = 500;
const MAX_ATTEMPTS = 500;

/**
 * Deletes counters that mean nothing any more, and the keys of attempts that were declined 30 days ago. Each step reads one
 * page of the table, in the order of the keys, and the next step continues there: a counter needs no index of its time of
 * expiry, which each payment would have to write. Each replica walks through the whole table, which is harmless.
 */
@Injectable()
export class DeleteExpiredCounters {
  private lastKey = '';

  constructor(
    @Inject(VelocityCounterRepository) private readonly counters: VelocityCounterRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async runStep(pageSize = PAGE_SIZE): Promise<void> {
    this.lastKey = (await this.counters.deleteExpired(this.lastKey, pageSize)) ?? '';
    await this.counters.forgetKeys(this.clock.later(-LONGEST_WINDOW_MS), MAX_ATTEMPTS);
  }
}
