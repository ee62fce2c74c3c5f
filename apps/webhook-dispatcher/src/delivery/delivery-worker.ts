import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { WebhookDispatcherConfig } from '../config.js';
import { NotificationPoster } from '../endpoint/post-notification.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';
import { type Bounds, type Lane, Occupancy } from './occupancy.js';
import { SendNotification } from './send-notification.js';

/** Three times the longest try, so that a lease ends only when its worker is gone. */
const LEASE_MS = 30_000;
/** A tenth of what an endpoint nearby takes to answer. */
const GATHER_MS = 5;
const FAILURE_PAUSE_MAX_MS = 5_000;

/** Room that the worker keeps for notifications while they are being recorded. */
export interface Places {
  readonly leaseId: string;
  readonly leasedUntil: Date;
  /** Whether there is room for one more to this endpoint of this merchant. */
  take(lane: Lane): boolean;
}

/**
 * Sends what is due. Any number of workers share one database: what one has leased the others leave alone. Each has
 * as much on the wire as it has room for, in all, for each merchant and for each endpoint, and refills a place as it
 * becomes free, so a slow endpoint holds up only its own places (E6). Nothing is remembered here that a crash could lose.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly places: Occupancy;
  private readonly interrupt = new AbortController();
  private loop: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(WebhookDispatcherConfig) private readonly config: WebhookDispatcherConfig,
    @Inject(SendNotification) private readonly sender: SendNotification,
    @Inject(NotificationPoster) private readonly poster: NotificationPoster,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.places = new Occupancy(this.bounds);
  }

  onApplicationBootstrap(): void {
    if (this.config.SVC_DELIVERY === 'on') this.loop = this.run();
  }

  /** Claims nothing more. What is on the wire may finish for a while; the rest is cut off and given back. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    this.due.nudge();
    await this.loop;
    const cutOff = setTimeout(() => this.interrupt.abort(), this.config.SVC_DELIVERY_DRAIN_MS);
    await Promise.all(this.inFlight);
    clearTimeout(cutOff);
    await this.poster.close();
  }

  /** Claims once and sends that; resolves with the number when every result is recorded. */
  async runOnce(): Promise<number> {
    const begun = await this.begin();
    await Promise.all(begun);
    return begun.length;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.stopping) {
      let pauseMs = this.config.SVC_DELIVERY_POLL_MS;
      try {
        void (await this.begin()); // each records its own result
        failures = 0;
      } catch (error) {
        failures++;
        pauseMs = Math.min(50 * 2 ** failures, FAILURE_PAUSE_MAX_MS);
        this.log.error({ err: error, failures }, 'delivery: leasing failed, will be retried');
      }
      if (this.stopping) break;
      const isNudged = await this.due.wait(pauseMs);
      // One lease request for the places that become free within a moment; there is enough on the wire meanwhile.
      if (isNudged && this.places.room < this.bounds.inAll / 2) await pause(GATHER_MS);
    }
  }

  private get bounds(): Bounds {
    return {
      inAll: this.config.SVC_DELIVERY_CONCURRENCY,
      perMerchant: this.config.SVC_DELIVERY_CONCURRENCY_PER_MERCHANT,
      perEndpoint: this.config.SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT,
    };
  }

  /**
   * Sends notifications as soon as they are recorded, without the lease request that would come between: `record` takes places
   * for as many as there is room for, writes them under the lease of those places, and returns which.
   */
  async sendRecorded(record: (places: Places | undefined) => Promise<LeasedNotification[]>): Promise<void> {
    if (this.config.SVC_DELIVERY === 'off' || this.stopping) return void (await record(undefined));
    const taken: Lane[] = [];
    const refused: Lane[] = [];
    try {
      const recorded = await record({
        leaseId: newUuid(this.clock),
        leasedUntil: this.clock.later(LEASE_MS),
        take: (lane) => {
          const isTaken = this.places.take(lane);
          (isTaken ? taken : refused).push(lane);
          return isTaken;
        },
      });
      // Places may have become free before there was something to lease.
      if (refused.some((lane) => this.places.hasRoomFor(lane))) this.due.nudge();
      // A worker that is stopping sends nothing more; another takes over.
      if (this.stopping) await Promise.all(recorded.map((one) => this.leases.release(one, one.createdAt)));
      else for (const notification of recorded) void this.track(notification);
    } finally {
      for (const lane of taken) {
        this.places.leaveWire(lane);
        this.places.leave();
      }
    }
  }

  private async begin(): Promise<Promise<void>[]> {
    if (this.stopping) return [];
    const asked = this.places.ask();
    if (asked.max <= 0) {
      this.places.answered(asked, []);
      return [];
    }
    const { perMerchant, perEndpoint } = this.bounds;
    const leased = await this.leases
      .leaseDue({
        now: this.clock.now(),
        leaseId: newUuid(this.clock),
        leasedUntil: this.clock.later(LEASE_MS),
        ...asked,
        maxPerMerchant: perMerchant,
        maxPerEndpoint: perEndpoint,
      })
      .catch((error: unknown) => {
        this.places.answered(asked, []);
        throw error;
      });
    const begun = leased.map((notification) => this.track(notification));
    if (this.places.answered(asked, leased)) this.due.nudge();
    return begun;
  }

  private track(notification: LeasedNotification): Promise<void> {
    this.places.occupy(notification);
    const sending = this.sender
      .send(notification, {
        tryMaxMs: this.config.SVC_DELIVERY_TIMEOUT_MS,
        interrupt: this.interrupt.signal,
        offTheWire: () => {
          this.places.leaveWire(notification);
          if (this.places.isAwaited(notification)) this.due.nudge();
        },
      })
      // The lease runs out and it is sent again: the database may have been away.
      .catch((error: unknown) =>
        this.log.error({ err: error, notificationId: notification.id }, 'delivery failed, will be retried'),
      )
      .finally(() => {
        this.inFlight.delete(sending);
        this.places.leave();
        // A Success may have waited for this one to leave the wire (E2).
        if (this.places.isAwaited(notification) || notification.paymentStatus === 'Failed') this.due.nudge();
      });
    this.inFlight.add(sending);
    return sending;
  }
}
