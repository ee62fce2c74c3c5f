import { Inject, Injectable } from '@nestjs/common';
import { batched } from '@svc/persistence';
import { type DeliveryAttempt, DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DueSignal } from './due-signal.js';

/**
 * One statement at a time, with all attempts that ended during the one before: the fewest possible commits. An attempt waits
 * only after its endpoint has responded and its request slot is free. `max` is the number of requests in flight, so that one
 * statement takes all that wait.
 */
const BATCH_OPTIONS = { maxItems: 200, maxConcurrentBatches: 1 };

/**
 * Records attempts in batches: an attempt that ends while a statement is running is recorded with the next statement.
 *
 * Only attempts of a Success share a statement, since only the holder of the lease changes such a row. A statement that
 * supersedes several Failed rows may run at the same time: two statements that lock several rows each could deadlock.
 */
@Injectable()
export class AttemptRecorder {
  constructor(
    @Inject(DeliveryAttemptRepository) private readonly attempts: DeliveryAttemptRepository,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  /** Two attempts of one notification, of an ended lease and of the next one, never share a statement. */
  private readonly insertBatched = batched(
    (attempts: readonly DeliveryAttempt[]) => this.attempts.insertAll(attempts),
    {
      ...BATCH_OPTIONS,
      key: ({ notification }) => notification.id,
    },
  );

  /**
   * Returns false when the lease had ended and another worker leased the notification: that worker sends it again under the
   * same webhook-id (E8).
   */
  async record(attempt: DeliveryAttempt): Promise<boolean> {
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
