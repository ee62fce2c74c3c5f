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
  /** More events are committed but cannot be read yet: see {@link LogBatch.isBlocked}. */
  readonly isBlocked: boolean;
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
  /** Handles a failure of a step. If it resolves to true, the loop continues without a pause and without a log line. */
  readonly handleFailure?: (error: unknown) => Promise<boolean>;
  /** Called when the lease was lost, after which another process may relay. */
  readonly onLeaseLost?: () => void;
}

/** Shared by all loops of a relay. */
interface LoopContext {
  readonly lease: Lease;
  readonly log: MessagingLog;
  /** Longest pause of a loop that has nothing to deliver. */
  readonly pollMs: () => number;
  /** Longest pause while an older transaction blocks events. Its end wakes no loop. */
  readonly blockedPollMs: number;
  readonly leaseMs: number;
  /** Awaited before each step. */
  readonly beforeStep: () => Promise<void>;
}

/** Longest pause between two attempts to deliver the same batch. */
const MAX_FAILURE_PAUSE_MS = 5_000;

/**
 * Repeats the steps of a task until it is ended: delivering the log to one target, serving replays, or watching a
 * {@link SeparatedTarget}.
 */
export class RelayLoop {
  /** Whether the last step delivered everything that could be read. */
  isCaughtUp = false;
  private readonly newEventSignal = new Signal();
  private readonly endSignal = new Signal();
  private isEnding = false;
  private failures = 0;
  private blockedMs = 0;
  private running: Promise<void> = Promise.resolve();

  constructor(
    readonly task: LoopTask,
    private readonly context: LoopContext,
  ) {}

  nudge(): void {
    this.newEventSignal.nudge();
  }

  /** Resolves when {@link end} has been called, the current batch is delivered and the position is saved. */
  get ended(): Promise<void> {
    return this.running;
  }

  end(): void {
    this.isEnding = true;
    this.newEventSignal.nudge();
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
          this.task.onLeaseLost?.();
          await this.endSignal.wait(leaseMs / 4);
          continue;
        }
        await this.stepOnce();
      } catch (error) {
        this.isCaughtUp = false;
        if (this.isEnding) break;
        if (!(await this.isHandled(error))) await this.pauseAfter(error);
      }
    }
    await progress?.waitUntilIdle().catch(() => undefined);
    // If the database is unavailable, the events after the saved position are delivered again later.
    await progress?.save().catch((error: unknown) => log.warn({ err: error }, 'relay: cursor not saved'));
  }

  private async stepOnce(): Promise<void> {
    const { beforeStep, blockedPollMs, lease } = this.context;
    const { progress, target, step } = this.task;
    await beforeStep();
    const { deliveredCount, hasMore, isBlocked } = await step(this.failures > 0);
    if (progress?.dueInMs === 0) await progress.save();
    this.recover();
    this.isCaughtUp = !hasMore;
    if (hasMore) return;
    // Blocked events become readable when an older transaction ends. So the log is read again soon, and then less
    // often.
    if (deliveredCount > 0) this.blockedMs = 0;
    this.blockedMs = isBlocked ? Math.min(Math.max(2, this.blockedMs * 2), blockedPollMs) : 0;
    const pauseMs = this.blockedMs || Math.min(this.context.pollMs(), lease.renewalInMs);
    const nudged = await this.newEventSignal.wait(Math.min(pauseMs, progress?.dueInMs ?? pauseMs));
    if (nudged && target?.maxBatchWaitMs) await this.endSignal.wait(target.maxBatchWaitMs);
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

  private async isHandled(error: unknown): Promise<boolean> {
    try {
      return (await this.task.handleFailure?.(error)) ?? false;
    } catch {
      return false;
    }
  }

  private async pauseAfter(error: unknown): Promise<void> {
    const { log } = this.context;
    const { name } = this.task;
    if (isPowerOfTwo(++this.failures))
      log.warn({ err: error, target: name, failures: this.failures }, 'relay: hand-over failed, will be retried');
    await this.endSignal.wait(Math.min(25 * 2 ** this.failures, MAX_FAILURE_PAUSE_MS));
  }
}
