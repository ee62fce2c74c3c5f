import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { Broker, RelayTarget, Subscription } from '../broker/broker.js';
import { findLag, hasEventsBeyond, hasType, type LogBounds } from '../event-log/log-reader.js';
import { ensureMonthPartitions } from '../event-log/month-partitions.js';
import { SharedLogReader } from '../event-log/shared-log-reader.js';
import type { MessagingLog } from '../log.js';
import { Replays } from '../replay/replays.js';
import { Signal } from '../signal.js';
import { GroupDelivery } from './group-delivery.js';
import { Lease } from './lease.js';
import { type LoopTask, RelayLoop, type Step } from './relay-loop.js';
import { observeLag } from './relay-metrics.js';
import { TargetDelivery } from './target-delivery.js';
import { WakeUps } from './wake-ups.js';

export interface RelaySettings extends LogBounds {
  /** Interval between two polls of the log. A commit in this process wakes the relay earlier. */
  readonly pollMs: number;
  /** The same interval while every commit wakes the relay, also in other processes: see {@link WakeUps}. */
  readonly listeningPollMs: number;
  /** If the relaying process crashes, another process continues after this time. */
  readonly leaseMs: number;
}

export const RELAY_DEFAULTS: RelaySettings = {
  maxBatchEvents: 200,
  maxBatchBytes: 4 * 1024 * 1024,
  pollMs: 500,
  listeningPollMs: 5_000,
  leaseMs: 4_000,
};

const PARTITIONS_RETRY_MS = 60_000;
/**
 * A replay is requested rarely, and its request wakes the loop. An idle service would otherwise spend as much on these
 * polls as on those of its log.
 */
const POLLS_PER_REPLAY_POLL = 4;

/**
 * Delivers the committed events of a service's log. Each target has its own durable cursor, so that a slow consumer
 * does not delay other consumers. PostgreSQL assigns positions before the commit, so a transaction may commit events
 * before the position of a cursor. Therefore a cursor also contains the transactions that were open at the time of the
 * read (see {@link LogCursor}).
 *
 * Delivers each event at least once: the cursor moves after the delivery, so a crash between the delivery and the move
 * repeats the delivery (see {@link TargetDelivery}).
 */
export class Relay {
  private readonly lease: Lease;
  private readonly reader: SharedLogReader;
  private readonly loops = new Set<RelayLoop>();
  private readonly targetLoops = new Map<RelayTarget, RelayLoop>();
  private isStopping = false;
  private readonly pollSignal = new Signal();
  private polling: Promise<void> | undefined;
  private stopWatching: () => void = () => undefined;
  private stopObserving: () => void = () => undefined;
  private partitionedMonth = '';
  private partitionsRetryAt = new Date(0);
  private readonly replays: Replays | undefined;
  private replayRequests: Subscription | undefined;
  private replayLoop: RelayLoop | undefined;
  /** Present if other processes may relay this log. */
  private readonly wakeUps: WakeUps | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly broker: Broker,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly settings: RelaySettings = RELAY_DEFAULTS,
  ) {
    this.lease = new Lease(dataSource, clock, settings.leaseMs);
    this.reader = new SharedLogReader(dataSource, settings, () => {
      const consumers = [...this.loops].flatMap(({ task }) => task.target ?? []);
      return [...new Set([...broker.targets(), ...consumers])].map(({ types }) => types);
    });
    this.replays = broker.eventReplay && new Replays(dataSource, broker.eventReplay, clock, settings, log);
    this.wakeUps =
      broker.connection &&
      new WakeUps(dataSource, log, (topic) => (topic === 'replays' ? this.replayLoop?.nudge() : this.nudgeLoops()));
  }

  /** Begins to relay to all current targets, and to targets that are added later. */
  async start(): Promise<void> {
    this.isStopping = false;
    await this.ensurePartitions();
    this.wakeUps?.start();
    this.stopWatching();
    this.stopWatching = this.broker.watchTargets(() => this.updateLoops());
    this.updateLoops();
    await this.serveReplays();
    this.polling ??= this.poll();
    this.stopObserving();
    this.stopObserving = observeLag(this.dataSource, () => this.relayedTargets(), this.clock);
  }

  /**
   * Wakes the relay, in this process or in the process that relays. Call this after the commit of events of these
   * types, or without an argument for all types.
   */
  nudge(types?: readonly string[]): void {
    this.nudgeLoops(types);
    if (!this.lease.isHeld) this.wakeUps?.send('events');
  }

  private nudgeLoops(types?: readonly string[]): void {
    for (const loop of this.loops) {
      const { target } = loop.task;
      if (!target) continue; // The loop of replays has no target, and new events do not belong to a replay.
      const targetTypes = target.types;
      if (!types || !targetTypes || types.some((type) => targetTypes.has(type))) loop.nudge();
    }
  }

  /** Resolves when the batches in flight are delivered and the lease is released. */
  async stop(): Promise<void> {
    this.stopObserving();
    this.stopWatching();
    await this.wakeUps?.stop();
    await this.replayRequests?.close();
    this.replayRequests = undefined;
    this.isStopping = true;
    this.pollSignal.nudge();
    await this.polling;
    this.polling = undefined;
    for (const loop of this.loops) loop.end();
    await Promise.all([...this.loops].map(({ ended }) => ended));
    this.targetLoops.clear();
    // If the database is unavailable, the lease expires instead.
    await this.lease.release().catch((error: unknown) => this.log.warn({ err: error }, 'relay: lease not released'));
  }

  /** Time of the oldest event that some target has not received. Undefined if there is no such event. */
  async findOldestWaiting(): Promise<Date | undefined> {
    const lags = await Promise.all(
      this.broker.targets().map(({ name, types }) => findLag(this.dataSource, name, types)),
    );
    const times = lags.flatMap(({ since }) => (since ? [since.getTime()] : []));
    return times.length === 0 ? undefined : new Date(Math.min(...times));
  }

  /** Delivers everything that can be read now, to every target. Returns the number of delivered events. */
  async deliverAll(): Promise<number> {
    let deliveredCount = 0;
    for (const target of this.broker.targets()) {
      const delivery = this.newDelivery(target);
      for (let hasMore = true; hasMore;) {
        const step = await delivery.step(true);
        deliveredCount += step.deliveredCount;
        hasMore = step.hasMore;
      }
      await delivery.progress.save();
    }
    for (let count = 1; count > 0 && this.replays;) count = await this.replays.step();
    return deliveredCount;
  }

  /** Whether every target has received every committed event. */
  async isCaughtUp(): Promise<boolean> {
    for (const { name, types } of this.broker.targets())
      if (await hasEventsBeyond(this.dataSource, name, types)) return false;
    return true;
  }

  /** Whether every commit wakes this relay, also in other processes. Otherwise it finds their events with its next poll. */
  get isWokenByOthers(): boolean {
    return this.wakeUps?.areReceived ?? true;
  }

  /** The targets that receive the log. A group whose consumers are separated is not among them. */
  private relayedTargets(): readonly RelayTarget[] {
    const targets = [...this.loops].flatMap(({ task }) => task.target ?? []);
    return targets.filter(({ name }) => !targets.some((consumer) => consumer.name.startsWith(`${name}/`)));
  }

  /** Finds the events and replay requests whose wake-ups were lost. */
  private async poll(): Promise<void> {
    for (let polls = 1; !this.isStopping; polls++) {
      const { listeningPollMs, pollMs } = this.settings;
      await this.pollSignal.wait(this.isWokenByOthers ? listeningPollMs : pollMs);
      for (const loop of this.loops) if (loop !== this.replayLoop || polls % POLLS_PER_REPLAY_POLL === 0) loop.poll();
    }
  }

  /** Starts loops for new targets, and ends the loops of removed targets. */
  private updateLoops(): void {
    const targets = new Set(this.broker.targets());
    for (const [target, loop] of this.targetLoops) {
      if (targets.has(target)) continue;
      loop.end();
      this.targetLoops.delete(target);
    }
    for (const target of targets) if (!this.targetLoops.has(target)) this.targetLoops.set(target, this.relayTo(target));
  }

  /** @param group name of the target whose cursor is used until the target has its own */
  private relayTo(target: RelayTarget, group?: string): RelayLoop {
    const { dataSource, log } = this;
    const toTarget = this.newDelivery(target, () => loop.nudge(), group);
    const startLoop = (consumer: RelayTarget): RelayLoop => this.relayTo(consumer, target.name);
    const delivery = target.consumerTargets
      ? new GroupDelivery(target, toTarget, { dataSource, log, startLoop })
      : toTarget;
    const step = (isRecovering: boolean): Promise<Step> => delivery.step(isRecovering);
    const loop: RelayLoop = this.startLoop({ name: target.name, target, progress: toTarget.progress, step });
    return loop;
  }

  private async serveReplays(): Promise<void> {
    const { replays } = this;
    if (!replays || this.replayRequests) return;
    const step = async (): Promise<Step> => {
      const deliveredCount = await replays.step();
      return { deliveredCount, hasMore: deliveredCount > 0 };
    };
    const loop = this.startLoop({ name: 'replays', step });
    this.replayLoop = loop;
    this.replayRequests = await this.broker.eventReplay?.serveRequests(
      async (request) => {
        await replays.accept(request);
        loop.nudge();
        if (!this.lease.isHeld) this.wakeUps?.send('replays');
      },
      (type) => hasType(this.dataSource, type),
    );
  }

  private startLoop(task: LoopTask): RelayLoop {
    const { lease, log, settings } = this;
    const beforeStep = (): Promise<void> => this.ensurePartitions();
    const loop = new RelayLoop(task, { lease, log, leaseMs: settings.leaseMs, beforeStep });
    if (this.isStopping) loop.end();
    this.loops.add(loop);
    void loop.run().finally(() => this.loops.delete(loop));
    return loop;
  }

  private newDelivery(target: RelayTarget, onFailure?: () => void, origin?: string): TargetDelivery {
    const { dataSource, clock, log, settings: bounds, reader } = this;
    return new TargetDelivery(target, { dataSource, clock, log, bounds, reader }, onFailure, origin);
  }

  /** Creates the partitions of this month and the next two months, at the start and at the beginning of each month. */
  private async ensurePartitions(): Promise<void> {
    const month = this.clock.nowISO().slice(0, 7);
    if (this.partitionedMonth === month || this.clock.now() < this.partitionsRetryAt) return;
    if (await ensureMonthPartitions(this.dataSource, this.clock)) {
      this.partitionedMonth = month;
      return;
    }
    // Until the retry, new events are stored in the default partition and read from there.
    this.partitionsRetryAt = this.clock.later(PARTITIONS_RETRY_MS);
    this.log.warn({ retryAt: this.partitionsRetryAt }, 'relay: partitions not created, blocked by a long transaction');
  }
}
