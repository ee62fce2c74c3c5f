import { Inject, Injectable } from '@nestjs/common';
import { batched } from '@svc/persistence';
import { DeliveryAttemptRepository, type Try } from './delivery-attempt.repository.js';
import { DueSignal } from './due-signal.js';

/**
 * One statement at a time, of all the tries that ended during the one before: the fewest commits there can be. A try waits for
 * it after its endpoint has answered and its place on the wire is free, so only the log of the try is later. As many as are on the
 * wire at once, so that a statement takes all that wait.
 */
const SHARED = { max: 200, atOnce: 1 };

/**
 * Writes tries, those that end while others are being written together: alone when there is little to do, with one
 * commit for many when there is much.
 *
 * Only tries of a Success share a statement. Nobody but the holder of the lease changes such a row, while those of a
 * Failed can be superseded at the same time, several in one statement: two that lock several rows each could deadlock.
 */
@Injectable()
export class TryRecords {
  constructor(
    @Inject(DeliveryAttemptRepository) private readonly attempts: DeliveryAttemptRepository,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  /** Two tries of one notification are never in one statement: a lease that has ended, and the one after it. */
  private readonly writeTogether = batched((tries: readonly Try[]) => this.attempts.insertAll(tries), {
    ...SHARED,
    key: ({ notification }) => notification.id,
  });

  /**
   * Whether it was written. It is not when the lease has ended and another worker took the notification over: that
   * worker sends it again under the same webhook-id (E8).
   */
  async write(one: Try): Promise<boolean> {
    const { isWritten, isBack } =
      one.notification.paymentStatus === 'Failed'
        ? (await this.attempts.insertAll([one]))[0]!
        : await this.writeTogether(one);
    if (isBack) {
      await this.attempts.bringForward(one.notification, one.endedAt);
      this.due.nudge();
    }
    return isWritten;
  }
}
