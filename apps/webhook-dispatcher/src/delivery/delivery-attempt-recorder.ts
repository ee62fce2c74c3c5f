import { Inject, Injectable } from '@nestjs/common';
import { batched } from '@svc/persistence';
import { type CompletedDeliveryAttempt, DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DueSignal } from './due-signal.js';

/**
 * One statement runs at a time. The statement records all attempts that ended while the previous statement ran, so
 * there are few commits. An attempt waits here only after its endpoint has responded and its permit is free.
 * `maxItems` is the default number of requests in flight, so one statement can record all waiting attempts.
 */
const BATCH_OPTIONS = { maxItems: 200, maxConcurrentBatches: 1 };

/**
 * Records attempts in batches: an attempt that ends while a statement is running is recorded with the next statement.
 *
 * A Success is the notification of a successful payment, a Failed is the notification of a failed payment. Only
 * attempts of Success notifications share a statement, because only the holder of the lease changes the row of a
 * Success. Attempts of Failed notifications are recorded one by one, because another transaction may supersede several
 * Failed notifications of a paid session at the same time. Two statements could deadlock if each of them locked several
 * rows.
 */
@Injectable()
export class DeliveryAttemptRecorder {
  constructor(
    @Inject(DeliveryAttemptRepository) private readonly attempts: DeliveryAttemptRepository,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  /**
   * Because of `key`, a statement never contains two attempts of the same notification. Two attempts of one
   * notification can wait at the same time if the lease of the first attempt has ended and another worker has begun the
   * second attempt.
   */
  private readonly insertBatched = batched(
    (attempts: readonly CompletedDeliveryAttempt[]) => this.attempts.insertAll(attempts),
    {
      ...BATCH_OPTIONS,
      key: ({ notification }) => notification.id,
    },
  );

  /**
   * Returns false when the lease has ended and another worker has leased the notification. The other worker sends the
   * notification again with the same webhook-id (E8).
   */
  async record(attempt: CompletedDeliveryAttempt): Promise<boolean> {
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
