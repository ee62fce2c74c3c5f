import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { type Broker, ConsumerRefusedError, type RelayTarget, type Subscription } from '../broker/broker.js';
import { findLag, hasEventsBeyond, hasType, type LogBounds } from '../event-log/log-reader.js';
import { ensureMonthPartitions } from '../event-log/month-partitions.js';
import type { MessagingLog } from '../log.js';
import { Replays } from '../replay/replays.js';
import { HorizonWatch } from './horizon-watch.js';
import { Lease } from './lease.js';
import { type LoopTask, RelayLoop, type Step } from './relay-loop.js';
import { observeHeldBack, observeLag } from './relay-metrics.js';
import { hasSeparateCursors } from './separate-cursors.js';
import { SeparatedTarget } from './separated-target.js';
import { TargetDelivery } from './target-delivery.js';
import { WakeUps } from './wake-ups.js';

export interface RelaySettings extends LogBounds {
  /** Interval between two reads of the log. A commit in this process wakes the relay earlier. */
  readonly pollMs: number;
  /** The same interval while commits in other processes wake the relay too: see {@link WakeUps}. */
  readonly listeningPollMs: number;
  /** If the relaying process crashes, another process continues after this time. */
  readonly leaseMs: number;
  /** A transaction that holds back events for longer than this is reported. */
  readonly heldBackAfterMs: number;
}

export const RELAY_DEFAULTS: RelaySettings = {
  maxBatchEvents: 200,
  maxBatchBytes: 4 * 1024 * 1024,
  pollMs: 500,
  listeningPollMs: 2_000,
  leaseMs: 4_000,
  heldBackAfterMs: 2_000,
};

const PARTITIONS_RETRY_MS = 60_000;
/**
 * A replay is requested rarely, and its request wakes the loop. An idle service would otherwise spend as much on these
 * polls as on those of its log.
 */
const POLLS_PER_REPLAY_POLL = 4;
const NO_EVENTS: Step = { deliveredCount: 0, hasMore: false, isBlocked: false };

/**
 * Reads a service's event log from a durable cursor and delivers the events. Each target has its own cursor, so that a
 * slow consumer does not delay other consumers. The relay reads only events of transactions that are older than the
 * oldest open transaction (pg_snapshot_xmin), in the order (txid, position), because PostgreSQL assigns positions
 * before the commit. A cursor that consists only of a position would skip the events of a transaction that commits
 * late.
 *
 * Delivers each event at least once: the cursor moves after the delivery, so a crash between the delivery and the move
 * repeats the delivery (see {@link TargetDelivery}).
 */
export class Relay {
  private readonly lease: Lease;
  private readonly loops = new Set<RelayLoop>();
  /** One for each target with several consumers. */
  private readonly groupRelays = new Set<Promise<void>>();
  private isStopping = false;
  private stopWatching: () => void = () => undefined;
  private stopObserving: () => void = () => undefined;
  private readonly horizon: HorizonWatch;
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
    this.horizon = new HorizonWatch(dataSource, log, settings.heldBackAfterMs);
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
    this.stopObserving();
    const unobserveLag = observeLag(this.dataSource, () => this.relayedTargets(), this.clock);
    const unobserveHeldBack = observeHeldBack(this.dataSource, this.horizon);
    this.stopObserving = () => (unobserveLag(), unobserveHeldBack());
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
    for (const loop of this.loops) loop.end();
    await Promise.all([...this.loops].map(({ ended }) => ended));
    await Promise.all(this.groupRelays);
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

  /**
   * Whether an older transaction, in any database of the server, has held back events for longer than the setting
   * `heldBackAfterMs`.
   */
  get isHeldBack(): boolean {
    return this.horizon.heldBack !== undefined;
  }

  /** Whether commits in other processes wake this relay. Otherwise it finds their events with its next poll. */
  get isWokenByOthers(): boolean {
    return this.wakeUps?.areReceived ?? false;
  }

  /** The targets that have a loop. */
  private relayedTargets(): readonly RelayTarget[] {
    return [...this.loops].flatMap(({ task }) => task.target ?? []);
  }

  /** Starts loops for new targets, and ends the loops of removed targets. */
  private updateLoops(): void {
    const targets = new Set(this.broker.targets());
    for (const loop of this.loops) {
      const { target } = loop.task;
      if (target && !target.consumerTargets && !targets.delete(target)) loop.end();
    }
    for (const target of targets) {
      if (target.consumerTargets) this.startGroupRelay(target);
      else this.relayTo(target);
    }
  }

  private relayTo(target: RelayTarget, origin?: string): RelayLoop {
    const delivery = this.newDelivery(target, () => loop.nudge(), origin);
    const { progress } = delivery;
    const step = (isRecovering: boolean): Promise<Step> => delivery.step(isRecovering);
    const onLeaseLost = (): void => void this.horizon.report(target.name, false);
    const loop: RelayLoop = this.startLoop({ name: target.name, target, progress, step, onLeaseLost });
    return loop;
  }

  private startGroupRelay(target: RelayTarget): void {
    const relay = this.relayToGroup(target).finally(() => this.groupRelays.delete(relay));
    this.groupRelays.add(relay);
  }

  /** Relays to several consumers: together, and separately from a refusal until all have caught up (ADR 19). */
  private async relayToGroup(target: RelayTarget): Promise<void> {
    while (!this.isStopping) {
      const separated = await this.relayTogether(target);
      if (separated) await this.relaySeparately(target, separated);
    }
  }

  /** Resolves when the consumers must be served separately, or to undefined when the relay stops. */
  private async relayTogether(target: RelayTarget): Promise<SeparatedTarget | undefined> {
    const delivery = this.newDelivery(target, () => loop.nudge());
    const { progress } = delivery;
    const { dataSource, log } = this;
    let separated: SeparatedTarget | undefined;
    /** Resolves to false if the target cannot list its consumers. Then the relay can only retry the delivery to all. */
    const separate = async (): Promise<boolean> => {
      await progress.save();
      const startLoop = (consumer: RelayTarget): RelayLoop => this.relayTo(consumer, target.name);
      const next = new SeparatedTarget(target, { dataSource, log, startLoop });
      if (!(await next.begin())) return false;
      separated = next;
      loop.end();
      return true;
    };
    let isChecked = false;
    const loop: RelayLoop = this.startLoop({
      name: target.name,
      target,
      progress,
      step: async (isRecovering) => {
        // The process that held the lease before may have begun to relay to each consumer separately.
        const isSeparated = !isChecked && (await hasSeparateCursors(dataSource, target.name));
        if (isSeparated && (await separate())) return NO_EVENTS;
        isChecked = true;
        return delivery.step(isRecovering);
      },
      handleFailure: async (error) => error instanceof ConsumerRefusedError && separate(),
      onLeaseLost: () => {
        isChecked = false;
        void this.horizon.report(target.name, false);
      },
    });
    await loop.ended;
    return separated;
  }

  /** Resolves when all consumers have caught up, and when the relay stops or has lost the lease. */
  private async relaySeparately(target: RelayTarget, separated: SeparatedTarget): Promise<void> {
    const loop: RelayLoop = this.startLoop({
      name: `${target.name}, separated`,
      step: async () => {
        if (await separated.step()) loop.end();
        return NO_EVENTS;
      },
      // Another process may then relay. It finds the cursors of the consumers in the database.
      onLeaseLost: () => loop.end(),
    });
    await loop.ended;
    await separated.endLoops();
  }

  private async serveReplays(): Promise<void> {
    const { replays } = this;
    if (!replays || this.replayRequests) return;
    const step = async (): Promise<Step> => {
      const deliveredCount = await replays.step();
      return { deliveredCount, hasMore: deliveredCount > 0, isBlocked: false };
    };
    const loop = this.startLoop({ name: 'replays', step }, POLLS_PER_REPLAY_POLL);
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

  /** @param pollFactor by how much the loop polls less often than the loops of the log */
  private startLoop(task: LoopTask, pollFactor = 1): RelayLoop {
    const { lease, log } = this;
    const { leaseMs, pollMs, listeningPollMs } = this.settings;
    const loop = new RelayLoop(task, {
      lease,
      log,
      leaseMs,
      blockedPollMs: pollMs,
      pollMs: () => pollFactor * (this.isWokenByOthers ? listeningPollMs : pollMs),
      beforeStep: () => this.ensurePartitions(),
    });
    if (this.isStopping) loop.end();
    this.loops.add(loop);
    void loop.run().finally(() => {
      this.loops.delete(loop);
      return this.horizon.report(task.name, false);
    });
    return loop;
  }

  private newDelivery(target: RelayTarget, onFailure?: () => void, origin?: string): TargetDelivery {
    const { dataSource, clock, log, settings: bounds, horizon } = this;
    return new TargetDelivery(target, { dataSource, clock, log, bounds, horizon }, onFailure, origin);
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
