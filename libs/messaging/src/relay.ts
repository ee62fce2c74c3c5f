import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { Broker, RelayTarget, Subscription } from './broker.js';
import { Lease } from './lease.js';
import type { MessagingLog } from './log.js';
import { hasType, isBehind, type LogBounds, readLog } from './log-reader.js';
import { observeLag } from './relay-metrics.js';
import { RelayProgress } from './relay-progress.js';
import { isPowerOfTwo } from './numbers.js';
import { Replays } from './replays.js';
import { Signal } from './signal.js';

export interface RelaySettings extends LogBounds {
  /** Safety net: a commit in this process nudges the relay, a commit elsewhere is seen after this. */
  readonly pollMs: number;
  /** After a crash another process takes over when this has passed. */
  readonly leaseMs: number;
}

export const RELAY_DEFAULTS: RelaySettings = {
  batchMax: 200,
  batchBytesMax: 4 * 1024 * 1024,
  pollMs: 500,
  leaseMs: 4_000,
};

/** Longest pause between two tries to hand the same batch over. */
const FAILURE_PAUSE_MAX_MS = 5_000;

interface Step {
  readonly handedOver: number;
  /** There is more to be handed over at once. */
  readonly isCut: boolean;
  /** There is more that can be handed over soon: see {@link LogBatch.isBlocked}. */
  readonly isBlocked: boolean;
}

/** The loop that hands the log over to one target, or the past to those who asked for it. */
interface Pump {
  readonly name: string;
  readonly target: RelayTarget | undefined;
  readonly progress: RelayProgress | undefined;
  /** Hands one batch over. */
  readonly step: () => Promise<Step>;
  /** Nudged by commits. */
  readonly work: Signal;
  readonly end: Signal;
  ending: boolean;
}

/**
 * Reads a service's event log on from a durable cursor and hands it over, for each target separately, so that a
 * slow consumer delays nobody. Reads only below pg_snapshot_xmin, in the order (txid, position): positions are given
 * out before the commit, so a cursor over positions alone would step over a transaction that commits late.
 *
 * Delivers at least once: the cursor moves after the hand-over, and a crash between the two repeats what lies between
 * (see {@link RelayProgress}).
 */
export class Relay {
  private readonly lease: Lease;
  private readonly pumps = new Map<Pump, Promise<void>>();
  private unwatch: () => void = () => undefined;
  private unobserve: () => void = () => undefined;
  private partitionedMonth = '';
  private readonly replays: Replays | undefined;
  private asked: Subscription | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly broker: Broker,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly settings: RelaySettings = RELAY_DEFAULTS,
  ) {
    this.lease = new Lease(dataSource, clock, settings.leaseMs);
    this.replays = broker.past && new Replays(dataSource, broker.past, clock, settings);
  }

  /** Begins to relay to every target there is now, and to those that come later. */
  async start(): Promise<void> {
    await this.ensurePartitions();
    this.unwatch();
    this.unwatch = this.broker.watchTargets(() => this.followTargets());
    this.followTargets();
    await this.answerForThePast();
    this.unobserve();
    this.unobserve = observeLag(this.dataSource, this.broker, this.clock);
  }

  /** Events of these types were committed; of any, when it is not said. */
  nudge(types?: readonly string[]): void {
    for (const { work, target } of this.pumps.keys()) {
      // Who is told of the past is not told more of it by a commit.
      if (!target) continue;
      const wanted = target.types;
      if (!types || !wanted || types.some((type) => wanted.has(type))) work.nudge();
    }
  }

  /** Ends after the batches under way, and gives the lease back. */
  async stop(): Promise<void> {
    this.unobserve();
    this.unwatch();
    await this.asked?.close();
    this.asked = undefined;
    for (const pump of this.pumps.keys()) endPump(pump);
    await Promise.all(this.pumps.values());
    // Without a database the lease cannot be given back and runs out by itself.
    await this.lease.giveBack().catch((error: unknown) => this.log.warn({ err: error }, 'relay: lease not given back'));
  }

  /** Hands over everything that can be read now, to every target. For tests and for catching up. */
  async runOnce(): Promise<number> {
    let handedOver = 0;
    for (const target of this.broker.targets()) {
      const progress = new RelayProgress(this.dataSource, target.name);
      for (let isCut = true; isCut;) {
        const step = await this.handOver(target, progress);
        handedOver += step.handedOver;
        isCut = step.isCut;
      }
      await progress.save();
    }
    for (let count = 1; count > 0 && this.replays;) count = await this.replays.step();
    return handedOver;
  }

  /** Whether every target has been handed everything that was committed. */
  async isCaughtUp(): Promise<boolean> {
    for (const { name, types } of this.broker.targets()) if (await isBehind(this.dataSource, name, types)) return false;
    return true;
  }

  private followTargets(): void {
    const targets = new Set(this.broker.targets());
    for (const pump of this.pumps.keys()) if (pump.target && !targets.delete(pump.target)) endPump(pump);
    for (const target of targets) {
      const progress = new RelayProgress(this.dataSource, target.name);
      this.begin({ name: target.name, step: () => this.handOver(target, progress), target, progress });
    }
  }

  private async answerForThePast(): Promise<void> {
    const { replays } = this;
    if (!replays || this.asked) return;
    const pump = this.begin({
      name: 'replays',
      step: async () => {
        const handedOver = await replays.step();
        return { handedOver, isCut: handedOver > 0, isBlocked: false };
      },
      target: undefined,
      progress: undefined,
    });
    this.asked = await this.broker.past?.answer(
      async (request) => {
        await replays.accept(request);
        pump.work.nudge();
      },
      (type) => hasType(this.dataSource, type),
    );
  }

  private begin(what: Pick<Pump, 'name' | 'step' | 'target' | 'progress'>): Pump {
    const pump: Pump = { ...what, work: new Signal(), end: new Signal(), ending: false };
    this.pumps.set(
      pump,
      this.run(pump).finally(() => this.pumps.delete(pump)),
    );
    return pump;
  }

  private async run(pump: Pump): Promise<void> {
    const { pollMs, leaseMs } = this.settings;
    const { progress } = pump;
    let failures = 0;
    let blockedMs = 0;
    while (!pump.ending) {
      try {
        if (!(await this.lease.hold())) {
          progress?.forget();
          await pump.end.wait(leaseMs / 4);
          continue;
        }
        await this.ensurePartitions();
        const { handedOver, isCut, isBlocked } = await pump.step();
        if (progress?.dueInMs === 0) await progress.save();
        if (failures > 0) this.log.info({ target: pump.name, failures }, 'relay: hands over again');
        failures = 0;
        if (isCut) continue;
        // Committed, but not below the horizon while an older transaction is open: look again soon, ever less often.
        if (handedOver > 0) blockedMs = 0;
        blockedMs = isBlocked ? Math.min(Math.max(2, blockedMs * 2), pollMs) : 0;
        const nudged = await pump.work.wait(Math.min(blockedMs || pollMs, progress?.dueInMs ?? pollMs));
        if (nudged && pump.target?.gatherMs) await pump.end.wait(pump.target.gatherMs);
      } catch (error) {
        if (pump.ending) break;
        // While the database is away for an hour, this is said a dozen times, not a thousand.
        if (isPowerOfTwo(++failures)) {
          this.log.warn({ err: error, target: pump.name, failures }, 'relay: hand-over failed, will be repeated');
        }
        await pump.end.wait(Math.min(25 * 2 ** failures, FAILURE_PAUSE_MAX_MS));
      }
    }
    // Without a database what lies between is handed over again.
    await progress?.save().catch((error: unknown) => this.log.warn({ err: error }, 'relay: cursor not saved'));
  }

  private async handOver(target: RelayTarget, progress: RelayProgress): Promise<Step> {
    const after = await progress.position();
    const { events, end, isCut, isBlocked } = await readLog(
      this.dataSource,
      { after, types: target.types },
      this.settings,
    );
    if (events.length > 0) await target.deliver(events);
    progress.advance(end, events.length > 0);
    return { handedOver: events.length, isCut, isBlocked };
  }

  /** This month's partitions and the next two's; at the start and whenever a month has begun. */
  private async ensurePartitions(): Promise<void> {
    const today = this.clock.nowISO().slice(0, 10);
    const month = today.slice(0, 7);
    if (this.partitionedMonth === month) return;
    await this.dataSource.query(
      `SELECT ensure_month_partitions(parent, $1::date, 3) FROM unnest(ARRAY['event_log', 'inbox']) AS parent`,
      [today],
    );
    this.partitionedMonth = month;
  }
}

function endPump(pump: Pump): void {
  pump.ending = true;
  pump.work.nudge();
  pump.end.nudge();
}
