import { Inject, Injectable } from '@nestjs/common';
import { batched } from '@svc/persistence';
import { type CompletedAttempt, DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DueSignal } from './due-signal.js';

/**
 * One statement runs at a time. It records all attempts that ended while the previous statement ran, so there are few
 * commits. An attempt waits here only after its endpoint has responded and its request slot is free. `max` is the
 * default number of requests in flight, so one statement can record all attempts that wait.
 */
const BATCH_OPTIONS = { maxItems: 200, maxConcurrentBatches: 1 };

/**
 * Records attempts in batches: an attempt that ends while a statement is running is recorded with the next statement.
 *
 * Only attempts of Success notifications share a statement, because only the holder of the lease changes such a row.
 * Failed notifications are recorded one by one: another transaction may supersede several of them at the same time, and
 * two statements that lock several rows each could deadlock.
 */
@Injectable()
export class AttemptRecorder {
  constructor(
    @Inject(DeliveryAttemptRepository) private readonly attempts: DeliveryAttemptRepository,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  /**
   * The key keeps two attempts of one notification, from an ended lease and from the next one, out of the same
   * statement.
   */
  private readonly insertBatched = batched(
    (attempts: readonly CompletedAttempt[]) => this.attempts.insertAll(attempts),
    {
      ...BATCH_OPTIONS,
      key: ({ notification }) => notification.id,
    },
  );

  /**
   * Returns false when the lease has ended and another worker has leased the notification. That worker sends it again
   * under the same webhook-id (E8).
   */
  async record(attempt: CompletedAttempt): Promise<boolean> {
    const { isInserted, isEndpointRecovered } =
      attempt.notification.paymentStatus === 'Failed'
        ? (await this.attempts.insertAll([attempt]))[0]!
        : await this.insertBatched(attempt);
    if (isEndpointRecovered) {
      await this.attempts.makeEndpointDue(attempt.notification, attempt.endedAt);
      this.due.nudge();
    }
    return isInserted;
  }
}
