import { isDatabaseUnavailable } from '@svc/persistence';
import type { RelayTarget } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';
import type { Lease } from './lease.js';
import type { RelayProgress } from './relay-progress.js';

/** The result of one step of a loop. */
export interface Step {
  /** Number of events delivered to the target. */
  readonly deliveredCount: number;
  /** More events can be delivered immediately: see {@link LogBatch.hasMore}. */
  readonly hasMore: boolean;
}

/** The task of a loop. */
export interface LoopTask {
  readonly name: string;
  readonly target?: RelayTarget;
  readonly progress?: RelayProgress;
  /**
   * Delivers one batch. If `isRecovering` is true, it resolves when the batch is confirmed. Otherwise batches may still
   * be in flight when it resolves.
   */
  readonly step: (isRecovering: boolean) => Promise<Step>;
}

/** Shared by all loops of a relay. */
interface LoopContext {
  readonly lease: Lease;
  readonly log: MessagingLog;
  readonly leaseMs: number;
  /** Awaited before each step. */
  readonly beforeStep: () => Promise<void>;
}

/** Longest pause between two attempts to deliver the same batch. */
const MAX_FAILURE_PAUSE_MS = 5_000;

/** Repeats the steps of a task until it is ended: delivering the log to one target, or serving replays. */
export class RelayLoop {
  /** Whether the last step delivered everything that could be read. */
  isCaughtUp = false;
  private readonly wakeSignal = new Signal();
  private readonly endSignal = new Signal();
  private isPolled = false;
  private isEnding = false;
  private failures = 0;
  private running: Promise<void> = Promise.resolve();

  constructor(
    readonly task: LoopTask,
    private readonly context: LoopContext,
  ) {}

  /** Wakes the loop for new events. If the target has `maxBatchWaitMs`, the loop waits this time for further events. */
  nudge(): void {
    this.wakeSignal.nudge();
  }

  /** Wakes the loop although there may be nothing new. All loops that are polled together share one read of the log. */
  poll(): void {
    this.isPolled = true;
    this.wakeSignal.nudge();
  }

  /** Resolves when {@link end} has been called, the current batch is delivered and the position is saved. */
  get ended(): Promise<void> {
    return this.running;
  }

  end(): void {
    this.isEnding = true;
    this.wakeSignal.nudge();
    this.endSignal.nudge();
  }

  run(): Promise<void> {
    this.running = this.repeat();
    return this.running;
  }

  private async repeat(): Promise<void> {
    const { lease, leaseMs, log } = this.context;
    const { progress } = this.task;
    while (!this.isEnding) {
      try {
        if (!(await lease.acquireOrRenew())) {
          progress?.discard();
          this.isCaughtUp = false;
          await this.endSignal.wait(leaseMs / 4);
          continue;
        }
        await this.stepOnce();
      } catch (error) {
        this.isCaughtUp = false;
        // After a failover, the server may not have the events that this cursor has passed.
        if (isDatabaseUnavailable(error)) progress?.discard();
        if (!this.isEnding) await this.pauseAfter(error);
      }
    }
    await progress?.waitUntilIdle().catch(() => undefined);
    // If the database is unavailable, the events after the saved position are delivered again later.
    await progress?.save().catch((error: unknown) => log.warn({ err: error }, 'relay: cursor not saved'));
  }

  private async stepOnce(): Promise<void> {
    await this.context.beforeStep();
    const { hasMore } = await this.task.step(this.failures > 0);
    if (this.task.progress?.dueInMs === 0) await this.task.progress.save();
    this.recover();
    this.isCaughtUp = !hasMore;
    if (!hasMore) await this.waitForWake();
  }

  /** Resolves when there may be new events, or when the lease is lost. Meanwhile saves the position and renews the lease. */
  private async waitForWake(): Promise<void> {
    const { lease } = this.context;
    const { progress, target } = this.task;
    while (!(await this.wakeSignal.wait(Math.min(lease.renewalInMs, progress?.dueInMs ?? lease.renewalInMs)))) {
      if (progress?.dueInMs === 0) await progress.save();
      if (!(await lease.acquireOrRenew())) return;
    }
    const isPolled = this.isPolled;
    this.isPolled = false;
    if (isPolled || !target?.maxBatchWaitMs) return;
    await this.endSignal.wait(target.maxBatchWaitMs);
    // The next read contains the events of all nudges until now.
    this.wakeSignal.clear();
  }

  /**
   * Called after a step. After a failure, the next step waits for the confirmation of its batch, so a step that has
   * ended was successful.
   */
  private recover(): void {
    if (this.failures === 0) return;
    this.context.log.info({ target: this.task.name, failures: this.failures }, 'relay: hand-over works again');
    this.failures = 0;
  }

  private async pauseAfter(error: unknown): Promise<void> {
    const { log } = this.context;
    const { name } = this.task;
    if (isPowerOfTwo(++this.failures))
      log.warn({ err: error, target: name, failures: this.failures }, 'relay: hand-over failed, will be retried');
    await this.endSignal.wait(Math.min(25 * 2 ** this.failures, MAX_FAILURE_PAUSE_MS));
  }
}
