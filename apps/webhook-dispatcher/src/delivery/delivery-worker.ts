import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { WebhookDispatcherConfig } from '../config.js';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../endpoint/concurrency-limiter.js';
import { WebhookClient } from '../endpoint/webhook-client.js';
import type { NewNotification } from '../notifications/notification.js';
import { DeliveryLeaseRepository, type Lease, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';
import { SendNotification } from './send-notification.js';

/** Three times the duration of the longest attempt, so an attempt of a running worker ends before its lease. */
const LEASE_MS = 30_000;
/** Short compared with the response time of an endpoint, which is at least about 50 ms. */
const BATCH_WAIT_MS = 5;
const MAX_FAILURE_PAUSE_MS = 5_000;

/** New notifications with and without a permit. A permit allows one request in flight. */
export interface Reservation {
  readonly lease: Lease;
  readonly permitted: readonly NewNotification[];
  readonly waiting: readonly NewNotification[];
}

/**
 * Sends due notifications. Any number of workers can share one database, because each worker leases the notifications
 * that it sends. A worker limits its requests in flight: in total, for each merchant, and for each endpoint. It uses a
 * permit again as soon as the permit is free, so a slow endpoint blocks only its own permits (E6). All state that must
 * survive a crash is in the database.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly limiter: ConcurrencyLimiter;
  private readonly abortController = new AbortController();
  private loop: Promise<void> = Promise.resolve();
  private isStopping = false;

  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(WebhookDispatcherConfig) private readonly config: WebhookDispatcherConfig,
    @Inject(SendNotification) private readonly sender: SendNotification,
    @Inject(WebhookClient) private readonly client: WebhookClient,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.limiter = new ConcurrencyLimiter(this.limits);
  }

  onApplicationBootstrap(): void {
    if (this.config.SVC_DELIVERY === 'on') this.loop = this.runLoop();
  }

  /**
   * Stops leasing. Waits for requests in flight, but only for a limited time (the drain time). After this time the
   * worker aborts them and releases their leases.
   */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    this.due.nudge();
    await this.loop;
    const cutOff = setTimeout(() => this.abortController.abort(), this.config.SVC_DELIVERY_DRAIN_MS);
    await Promise.all(this.inFlight);
    clearTimeout(cutOff);
    this.client.close();
  }

  /**
   * Leases due notifications once and sends them. When all results are recorded, resolves with the number of sent
   * notifications.
   */
  async runStep(): Promise<number> {
    const started = await this.leaseAndSend();
    await Promise.all(started);
    return started.length;
  }

  private async runLoop(): Promise<void> {
    let failures = 0;
    while (!this.isStopping) {
      let pauseMs = this.config.SVC_DELIVERY_POLL_MS;
      try {
        void (await this.leaseAndSend()); // does not wait for the results
        failures = 0;
      } catch (error) {
        failures++;
        pauseMs = Math.min(50 * 2 ** failures, MAX_FAILURE_PAUSE_MS);
        this.log.error({ err: error, failures }, 'delivery: leasing failed, will be retried');
      }
      if (this.isStopping) break;
      const isNudged = await this.due.wait(pauseMs);
      // Under load, one lease request serves all permits that become free within this time.
      if (isNudged && this.limiter.available < this.limits.total / 2) await pause(BATCH_WAIT_MS);
    }
  }

  private get limits(): ConcurrencyLimits {
    return {
      total: this.config.SVC_DELIVERY_CONCURRENCY,
      perMerchant: this.config.SVC_DELIVERY_CONCURRENCY_PER_MERCHANT,
      perEndpoint: this.config.SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT,
    };
  }

  /**
   * Reserves a permit for each of these new notifications, as long as permits are free. The caller inserts those with a
   * permit under the lease, passes the inserted ones to {@link send}, and always calls {@link free}.
   */
  reserve(notifications: readonly NewNotification[]): Reservation {
    const lease = { leaseId: newUuid(this.clock), leasedUntil: this.clock.later(LEASE_MS) };
    if (this.config.SVC_DELIVERY === 'off' || this.isStopping) return { lease, permitted: [], waiting: [] };
    const { permitted = [], waiting = [] } = Object.groupBy(notifications, (notification) =>
      this.limiter.tryAcquire(notification) ? 'permitted' : 'waiting',
    );
    return { lease, permitted, waiting };
  }

  /** Sends notifications that were inserted under a lease of this worker. Does not wait for the results. */
  async send(leased: readonly LeasedNotification[]): Promise<void> {
    // A stopping worker sends no more notifications. Another worker can send the released notifications.
    if (this.isStopping)
      await Promise.all(leased.map((notification) => this.leases.release(notification, notification.createdAt)));
    else for (const notification of leased) void this.startSending(notification);
  }

  /** Frees the reserved permits. Each notification that is being sent has its own permit. */
  free({ permitted, waiting }: Reservation): void {
    for (const notification of permitted) {
      this.limiter.markRequestEnded(notification);
      this.limiter.markRecorded();
    }
    // If a permit became free before the waiting notifications were inserted, the worker found nothing to lease.
    if (waiting.some((notification) => this.limiter.hasCapacityFor(notification))) this.due.nudge();
  }

  private async leaseAndSend(): Promise<Promise<void>[]> {
    if (this.isStopping) return [];
    const capacity = this.limiter.beginLease();
    if (capacity.max <= 0) {
      this.limiter.endLease(capacity, []);
      return [];
    }
    const { perMerchant, perEndpoint } = this.limits;
    const leased = await this.leases
      .leaseDue({
        now: this.clock.now(),
        leaseId: newUuid(this.clock),
        leasedUntil: this.clock.later(LEASE_MS),
        ...capacity,
        maxPerMerchant: perMerchant,
        maxPerEndpoint: perEndpoint,
      })
      .catch((error: unknown) => {
        this.limiter.endLease(capacity, []);
        throw error;
      });
    const started = leased.map((notification) => this.startSending(notification));
    if (this.limiter.endLease(capacity, leased)) this.due.nudge();
    return started;
  }

  private startSending(notification: LeasedNotification): Promise<void> {
    this.limiter.acquire(notification);
    const sending = this.sender
      .send(notification, {
        timeoutMs: this.config.SVC_DELIVERY_TIMEOUT_MS,
        abortSignal: this.abortController.signal,
        onRequestEnded: () => {
          this.limiter.markRequestEnded(notification);
          if (this.limiter.hasWaiters(notification)) this.due.nudge();
        },
      })
      // Probably the database is unavailable. After the end of the lease, the notification is sent again.
      .catch((error: unknown) =>
        this.log.error({ err: error, notificationId: notification.id }, 'delivery failed, will be retried'),
      )
      .finally(() => {
        this.inFlight.delete(sending);
        this.limiter.markRecorded();
        // The notification of a successful payment of the same session may have waited for the end of this lease (E2).
        if (this.limiter.hasWaiters(notification) || notification.paymentStatus === 'Failed') this.due.nudge();
      });
    this.inFlight.add(sending);
    return sending;
  }
}
