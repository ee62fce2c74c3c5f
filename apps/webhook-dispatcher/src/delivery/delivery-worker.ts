import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { WebhookDispatcherConfig } from '../config.js';
import { NotificationPoster } from '../endpoint/post-notification.js';
import { claimNotifications, type ClaimedNotification, giveBack } from './claim-notifications.js';
import { DueSignal } from './due-signal.js';
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
  /** Whether there is room for one more to this endpoint. */
  take(endpoint: string): boolean;
}

/**
 * Sends what is due. Any number of workers share one database: what one has claimed the others leave alone. Each has
 * as much on the wire as it has room for, in all and for each endpoint, and refills a place as it becomes free, so a
 * slow endpoint holds up only its own places (E6). Nothing is remembered here that a crash could lose.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly busy = new Map<string, number>();
  private onTheWire = 0;
  /** Places kept by {@link sendRecorded}. */
  private kept = 0;
  private readonly interrupt = new AbortController();
  private loop: Promise<void> = Promise.resolve();
  private stopping = false;
  /**
   * Something had to be left behind for want of room, in all or to these endpoints. A place that becomes free is then
   * filled by a claim, oldest first: what is just recorded must not overtake what waits.
   */
  private isShort = false;
  private readonly shortOf = new Set<string>();
  /** The room there is belongs to the claim until it has come back. */
  private isClaiming = false;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(WebhookDispatcherConfig) private readonly config: WebhookDispatcherConfig,
    @Inject(SendNotification) private readonly sender: SendNotification,
    @Inject(NotificationPoster) private readonly poster: NotificationPoster,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

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
        this.log.error({ err: error, failures }, 'delivery: claiming failed, will be repeated');
      }
      if (this.stopping) break;
      const isNudged = await this.due.wait(pauseMs);
      // One claim for the places that become free within a moment; there is enough on the wire meanwhile.
      if (isNudged && this.room() < this.config.SVC_DELIVERY_CONCURRENCY / 2) await pause(GATHER_MS);
    }
  }

  /** A try that has its answer needs no place while it is written; as many as there are places may wait for that. */
  private room(): number {
    const { SVC_DELIVERY_CONCURRENCY: places } = this.config;
    return Math.min(places - this.onTheWire, 2 * places - this.inFlight.size) - this.kept;
  }

  /**
   * Sends notifications as soon as they are recorded, without the claim that would come between: `record` takes places
   * for as many as there is room for, writes them under the lease of those places, and returns which.
   */
  async sendRecorded(record: (places: Places | undefined) => Promise<ClaimedNotification[]>): Promise<void> {
    if (this.config.SVC_DELIVERY === 'off' || this.stopping) return void (await record(undefined));
    const taken: string[] = [];
    const refused: string[] = [];
    try {
      const recorded = await record({
        leaseId: newUuid(this.clock),
        leasedUntil: this.clock.later(LEASE_MS),
        take: (endpoint) => {
          const hasPlace = this.hasPlaceFor(endpoint);
          (hasPlace ? taken : refused).push(endpoint);
          if (!hasPlace) return false;
          this.occupy(endpoint);
          this.kept++;
          return true;
        },
      });
      // Places may have become free before there was something to claim.
      if (this.room() > 0 && refused.some((endpoint) => this.hasRoomFor(endpoint))) this.due.nudge();
      // A worker that is stopping sends nothing more; another takes over.
      if (this.stopping) await Promise.all(recorded.map((one) => giveBack(this.dataSource, one, one.createdAt)));
      else for (const notification of recorded) void this.track(notification);
    } finally {
      for (const endpoint of taken) {
        this.kept--;
        this.release(endpoint);
      }
    }
  }

  /** For what is just being recorded; notes that something had to be left behind. */
  private hasPlaceFor(endpoint: string): boolean {
    this.isShort ||= this.isClaiming || this.room() <= 0;
    if (!this.hasRoomFor(endpoint)) this.shortOf.add(endpoint);
    return !this.isShort && !this.shortOf.has(endpoint);
  }

  private get perEndpoint(): number {
    return this.config.SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT;
  }

  private occupy(endpoint: string): void {
    this.busy.set(endpoint, (this.busy.get(endpoint) ?? 0) + 1);
  }

  private release(endpoint: string): void {
    const left = this.busy.get(endpoint)! - 1;
    if (left > 0) this.busy.set(endpoint, left);
    else this.busy.delete(endpoint);
  }

  private async begin(): Promise<Promise<void>[]> {
    if (this.stopping) return [];
    const max = this.room();
    this.isShort = max <= 0;
    if (this.isShort) return [];
    this.shortOf.clear();
    const asked = new Map(this.busy);
    this.isClaiming = true;
    const claimed = await claimNotifications(this.dataSource, {
      now: this.clock.now(),
      leaseId: newUuid(this.clock),
      leasedUntil: this.clock.later(LEASE_MS),
      max,
      maxPerEndpoint: this.perEndpoint,
      busy: asked,
    }).finally(() => (this.isClaiming = false));
    for (const { endpoint } of claimed) asked.set(endpoint, (asked.get(endpoint) ?? 0) + 1);
    const begun = claimed.map((notification) => this.track(notification));
    // A claim that came back full left something behind, and while it was on its way places may have become free.
    if (claimed.length >= max || this.room() <= 0) this.isShort = true;
    for (const [endpoint, places] of asked) if (places >= this.perEndpoint) this.shortOf.add(endpoint);
    if (this.room() > 0 && (this.isShort || [...this.shortOf].some((endpoint) => this.hasRoomFor(endpoint))))
      this.due.nudge();
    return begun;
  }

  private hasRoomFor(endpoint: string): boolean {
    return (this.busy.get(endpoint) ?? 0) < this.perEndpoint;
  }

  private track(notification: ClaimedNotification): Promise<void> {
    const { endpoint } = notification;
    this.occupy(endpoint);
    this.onTheWire++;
    const sending = this.sender
      .send(notification, {
        tryMaxMs: this.config.SVC_DELIVERY_TIMEOUT_MS,
        interrupt: this.interrupt.signal,
        offTheWire: () => {
          this.release(endpoint);
          this.onTheWire--;
          if (this.isShort || this.shortOf.has(endpoint)) this.due.nudge();
        },
      })
      // The lease runs out and it is sent again: the database may have been away.
      .catch((error: unknown) =>
        this.log.error({ err: error, notificationId: notification.id }, 'delivery failed, will be repeated'),
      )
      .finally(() => {
        this.inFlight.delete(sending);
        // A Success may have waited for this one to leave the wire (E2).
        if (this.isShort || notification.paymentStatus === 'Failed') this.due.nudge();
      });
    this.inFlight.add(sending);
    return sending;
  }
}
