import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { continueTrace } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { NotificationPoster } from '../endpoint/post-notification.js';
import { SigningSecrets } from '../signing-secrets/signing-secrets.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { isFailure } from '../retries/circuit.js';
import { CountFailure } from './count-failure.js';
import { TryRecords } from './record-tries.js';
import { waitForKeys } from '../retries/retry-schedule.js';
import { signNotification } from './sign-notification.js';
import { judgeTry } from '../retries/try-result.js';

/** From 0 to below 1; given so that tests know the jitter. */
export abstract class Randomness {
  abstract next(): number;
}

export interface TryBounds {
  /** Longest a post takes. */
  readonly tryMaxMs: number;
  /** Cuts it off; the lease is then released, uncounted. */
  readonly interrupt: AbortSignal;
  /** Called once, when the endpoint has answered or is no longer being asked. */
  readonly offTheWire: () => void;
}

/**
 * One try of a leased notification: sign, post, record. Between the post and the record a crash is possible; the
 * lease then runs out and the endpoint is told again under the same webhook-id (E8).
 */
@Injectable()
export class SendNotification {
  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(Randomness) private readonly randomness: Randomness,
    @Inject(SigningSecrets) private readonly secrets: SigningSecrets,
    @Inject(NotificationPoster) private readonly poster: NotificationPoster,
    @Inject(TryRecords) private readonly records: TryRecords,
    @Inject(CountFailure) private readonly countFailure: CountFailure,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async send(notification: LeasedNotification, bounds: TryBounds): Promise<void> {
    let onTheWire = true;
    const offTheWire = (): void => {
      if (onTheWire) bounds.offTheWire();
      onTheWire = false;
    };
    try {
      await continueTrace(notification.traceparent, 'notify merchant', () =>
        this.sendInTrace(notification, { ...bounds, offTheWire }),
      );
    } finally {
      offTheWire();
    }
  }

  private async sendInTrace(
    notification: LeasedNotification,
    { tryMaxMs, interrupt, offTheWire }: TryBounds,
  ): Promise<void> {
    const keys = await this.secrets.findFor(notification);
    if (!keys) return this.waitForKeys(notification);

    const startedAt = this.clock.now();
    // A process that was frozen since its claim must not post when others may take over: a Success may be out by then.
    if (startedAt.getTime() + tryMaxMs > notification.leasedUntil.getTime())
      return this.leases.release(notification, startedAt);

    const { body, headers } = signNotification(notification.webhookId, notification, keys, startedAt);
    let answer;
    try {
      answer = await this.poster.post({ url: notification.url, headers, body }, interrupt);
    } catch (error) {
      if (!interrupt.aborted) throw error;
      return this.leases.release(notification, this.clock.now());
    }

    offTheWire();

    const now = this.clock.now();
    const result = judgeTry(answer, {
      triesMade: notification.schedulePosition + 1,
      now,
      random: this.randomness.next(),
    });
    const recorded = await this.records.write({ notification, answer, result, startedAt, endedAt: now });
    const told = {
      notificationId: notification.id,
      outcome: result.outcome,
      state: result.state,
      statusCode: answer.statusCode,
      errorClass: answer.errorClass,
      ms: answer.durationMs,
    };
    if (!recorded) this.log.warn(told, 'notification: the lease ended before the result was recorded');
    else if (result.state === 'exhausted' || result.state === 'gone') this.log.warn(told, 'notification given up');
    else this.log.info(told, 'notification attempted');
    if (isFailure(answer)) await this.recordFailure(notification);
  }

  private async recordFailure({ merchantId, endpoint, leaseId }: LeasedNotification): Promise<void> {
    const now = this.clock.now();
    const { wasOpen, openUntil, exhausted } = await this.countFailure.execute({ merchantId, endpoint, leaseId }, now);
    const told = { merchantId, endpoint, openUntil };
    if (openUntil && !wasOpen) this.log.warn(told, 'endpoint is failing: circuit breaker opened');
    if (exhausted > 0) this.log.warn({ ...told, exhausted }, 'notifications given up behind an open circuit');
  }

  private async waitForKeys(notification: LeasedNotification): Promise<void> {
    const now = this.clock.now();
    const missingKeys = await this.secrets.findMissing(notification);
    // They have arrived since.
    if (missingKeys.length === 0) return this.leases.release(notification, now);

    const waitMs = waitForKeys(now.getTime() - notification.createdAt.getTime());
    const nextAttemptAt = waitMs === undefined ? undefined : new Date(now.getTime() + waitMs);
    await this.leases.release(notification, nextAttemptAt, { at: now, missingKeys });
    const { id: notificationId, merchantId, siteId, mode, apiVersion } = notification;
    this.log.error(
      { notificationId, merchantId, siteId, mode, apiVersion, missingKeys, waitMs },
      'notification cannot be signed: create the missing keys',
    );
  }
}
