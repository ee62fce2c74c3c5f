import type { RelayTarget } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';
import type { Lease } from './lease.js';
import type { RelayProgress } from './relay-progress.js';

export interface Step {
  readonly handedOver: number;
  /** There is more to hand over at once. */
  readonly isCut: boolean;
  /** There is more that can be handed over soon: see {@link LogBatch.isBlocked}. */
  readonly isBlocked: boolean;
}

export interface LoopWork {
  readonly name: string;
  readonly target?: RelayTarget;
  readonly progress?: RelayProgress;
  /** Hands over one batch. In recovery it resolves when the batch is confirmed; otherwise batches may still be under way. */
  readonly step: (isRecovering: boolean) => Promise<Step>;
  /** Whether it has handled the failure itself, without a pause and a log line. */
  readonly failed?: (error: unknown) => Promise<boolean>;
  /** Another process may relay now. */
  readonly leaseLost?: () => void;
}

/** Shared by all loops of a relay. */
export interface LoopContext {
  readonly lease: Lease;
  readonly log: MessagingLog;
  readonly pollMs: number;
  readonly leaseMs: number;
  /** Awaited before each step. */
  readonly before: () => Promise<void>;
}

/** Longest pause between two attempts to hand over the same batch. */
const MAX_FAILURE_PAUSE_MS = 5_000;

/** The loop that hands the log over to one target, serves the replays, or watches separated targets. */
export class RelayLoop {
  /** Whether the last step handed over everything that could be read. */
  isCaughtUp = false;
  private readonly work = new Signal();
  private readonly ended = new Signal();
  private isEnding = false;
  private failures = 0;
  private blockedMs = 0;

  constructor(
    readonly does: LoopWork,
    private readonly surroundings: LoopContext,
  ) {}

  nudge(): void {
    this.work.nudge();
  }

  end(): void {
    this.isEnding = true;
    this.work.nudge();
    this.ended.nudge();
  }

  async run(): Promise<void> {
    const { lease, leaseMs, log } = this.surroundings;
    const { progress } = this.does;
    while (!this.isEnding) {
      try {
        if (!(await lease.acquireOrRenew())) {
          progress?.discard();
          this.does.leaseLost?.();
          await this.ended.wait(leaseMs / 4);
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
    // If the database is unavailable, the unsaved part is handed over again.
    await progress?.save().catch((error: unknown) => log.warn({ err: error }, 'relay: cursor not saved'));
  }

  private async stepOnce(): Promise<void> {
    const { pollMs, before } = this.surroundings;
    const { progress, target, step } = this.does;
    await before();
    const { handedOver, isCut, isBlocked } = await step(this.failures > 0);
    if (progress?.dueInMs === 0) await progress.save();
    this.recover();
    this.isCaughtUp = !isCut;
    if (isCut) return;
    // Committed, but above the horizon while an older transaction is open: read again soon, then less and less often.
    if (handedOver > 0) this.blockedMs = 0;
    this.blockedMs = isBlocked ? Math.min(Math.max(2, this.blockedMs * 2), pollMs) : 0;
    const nudged = await this.work.wait(Math.min(this.blockedMs || pollMs, progress?.dueInMs ?? pollMs));
    if (nudged && target?.gatherMs) await this.ended.wait(target.gatherMs);
  }

  /** The step of a recovering loop was confirmed; a batch that has only begun is no success. */
  private recover(): void {
    if (this.failures === 0) return;
    this.surroundings.log.info({ target: this.does.name, failures: this.failures }, 'relay: hand-over works again');
    this.failures = 0;
  }

  private async isHandled(error: unknown): Promise<boolean> {
    try {
      return (await this.does.failed?.(error)) ?? false;
    } catch {
      return false;
    }
  }

  private async pauseAfter(error: unknown): Promise<void> {
    const { log } = this.surroundings;
    const { name } = this.does;
    // An hour without the database is a dozen log lines, not a thousand.
    if (isPowerOfTwo(++this.failures))
      log.warn({ err: error, target: name, failures: this.failures }, 'relay: hand-over failed, will be retried');
    await this.ended.wait(Math.min(25 * 2 ** this.failures, MAX_FAILURE_PAUSE_MS));
  }
}
