import type { Clock } from '@svc/kernel';
import type { ServiceLog } from '@svc/service/standalone';
import type { Store } from '../store/store.js';
import { backoffMs } from './backoff.js';
import type { AttemptResult, CallHandler, CallHandlers } from './call-handler.js';
import { classifyFailure, type Failure } from './failure.js';
import type { OutgoingCall, OutgoingCallRepository, QueueName } from './outgoing-call.repository.js';

/**
 * The outcome of a call for the till that waits for it. `queued`: the call is stored and will be sent later.
 * `cancelled`: the call is no longer needed, for example because the basket has been paid.
 */
export type CallOutcome =
  { readonly kind: 'done' } | { readonly kind: 'queued' } | { readonly kind: 'cancelled' } | Failure;

interface CallQueueOptions {
  readonly siteId: number;
  readonly name: QueueName;
  readonly store: Store;
  readonly calls: OutgoingCallRepository;
  readonly handlers: CallHandlers;
  /** Returns when the platform's time is known. @throws Error if the platform cannot be reached */
  readonly learnTime: () => Promise<void>;
  readonly clock: Clock;
  readonly log: ServiceLog;
}

/** Maximum pause while the platform is unreachable. It is short, so that tills can show codes soon after an outage. */
const MAX_UNREACHABLE_BACKOFF_MS = 10_000;
/** Pause before a retry while a customer is paying the invoice. */
const IN_PROGRESS_RETRY_MS = 2_000;
const MAX_RETRY_BACKOFF_MS = 300_000;
const MIN_PAUSE_MS = 250;
/**
 * After this many failures, which take about three hours, the queue gives up the call and writes an alert. Attempts
 * during an outage do not count as failures, so no call is lost even if an outage lasts for days.
 */
const MAX_FAILURES = 50;

/** Sends the waiting calls of one site, either for invoices or for refunds, one after the other. */
export class CallQueue {
  private draining: Promise<void> = Promise.resolve();
  private isDraining = false;
  /**
   * Functions that report the outcome of a call to waiting tills, by call id. A call may have several waiters, because
   * a till that repeats a total waits for the call of the first request.
   */
  private readonly waiters = new Map<number, Set<(outcome: CallOutcome) => void>>();
  /** Consecutive attempts that could not reach the platform. */
  private consecutiveOutages = 0;
  /** The end of the pause after an outage, by the monotonic clock. */
  private unreachableUntilMs = 0;
  /**
   * When the postponed calls are due, by the monotonic clock. After a restart they are due at once, because no clock
   * shows how long the program did not run.
   */
  private readonly postponedUntilMs = new Map<number, number>();
  /** Consecutive errors of this program, for example while the disk is full, and the end of the pause after them. */
  private consecutiveErrors = 0;
  private nextDrainMs = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Whether the platform has responded in this run, so that its time is known. */
  private hasTime = false;
  private isStarted = false;
  private isStopped = false;

  constructor(private readonly options: CallQueueOptions) {}

  /** From now on, calls are sent when they are due, even if no till waits for them. */
  start(): void {
    this.isStarted = true;
    void this.drain();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.notifyAllWaiters({ kind: 'queued' });
  }

  /** Ends the backoff, because the platform is reachable again, and sends waiting calls immediately. */
  markReachable(): void {
    this.unreachableUntilMs = 0;
    void this.drain();
  }

  get isUnreachable(): boolean {
    return this.unreachableUntilMs > this.options.clock.monotonicMs();
  }

  /**
   * Sends due calls and waits for the outcome of the given call. Returns `queued` if that takes longer than
   * `timeoutMs`, or if the platform is unreachable.
   */
  async waitForOutcome(callId: number, timeoutMs: number): Promise<CallOutcome> {
    if (this.isUnreachable || this.isStopped) return { kind: 'queued' };
    const outcome = new Promise<CallOutcome>((resolve) => {
      const timer = setTimeout(() => endWait({ kind: 'queued' }), timeoutMs);
      const endWait = (result: CallOutcome): void => {
        clearTimeout(timer);
        const waiters = this.waiters.get(callId);
        waiters?.delete(endWait);
        if (waiters?.size === 0) this.waiters.delete(callId);
        resolve(result);
      };
      this.waiters.set(callId, (this.waiters.get(callId) ?? new Set()).add(endWait));
    });
    // The till waits for these calls too. They are repeated only to learn which invoice belongs to its basket.
    for (const supersededId of this.options.calls.listSupersededBefore(callId))
      this.postponedUntilMs.delete(supersededId);
    void this.drain();
    return outcome;
  }

  /** Sends every call that is due, in order. */
  drain(): Promise<void> {
    if (this.isDraining) return this.draining;
    this.isDraining = true;
    this.draining = this.sendAll()
      .catch((error: unknown) => this.interrupt(error))
      .finally(() => this.schedule());
    return this.draining;
  }

  /** An attempt could not be recorded, because the disk is full. Nothing is lost: the call stays in the queue. */
  private interrupt(error: unknown): void {
    this.consecutiveErrors++;
    this.nextDrainMs = this.options.clock.monotonicMs() + backoffMs(this.consecutiveErrors, MAX_UNREACHABLE_BACKOFF_MS);
    this.options.log.error({ err: error }, 'calls to the platform were interrupted');
  }

  private async sendAll(): Promise<void> {
    const { siteId, name, calls } = this.options;
    try {
      while (!this.isStopped && !this.isUnreachable) {
        this.notifyCancelled();
        const call = calls.findNext(siteId, name, this.listPostponed());
        if (!call) return;
        // While the queue waits for the platform's time, the call may be cancelled. So the queue is read again.
        if (this.hasTime) await this.send(call);
        else this.hasTime = await this.learnTime();
        this.consecutiveErrors = 0;
      }
    } finally {
      // The flag is reset here, because the `finally` of drain() runs in a later microtask. A call of drain() before
      // that microtask would do nothing.
      this.isDraining = false;
    }
  }

  /** A call contains times of the platform. Therefore nothing is sent before the platform's time is known (T14). */
  private async learnTime(): Promise<boolean> {
    try {
      await this.options.learnTime();
      return true;
    } catch (error) {
      if (!this.isStopped) this.options.log.warn({ err: error }, 'the platform cannot be reached');
      this.beginOutage();
      return false;
    }
  }

  private beginOutage(): void {
    this.consecutiveOutages++;
    this.unreachableUntilMs =
      this.options.clock.monotonicMs() + backoffMs(this.consecutiveOutages, MAX_UNREACHABLE_BACKOFF_MS);
    this.notifyAllWaiters({ kind: 'queued' });
  }

  private listPostponed(): number[] {
    const now = this.options.clock.monotonicMs();
    for (const [callId, untilMs] of this.postponedUntilMs) if (untilMs <= now) this.postponedUntilMs.delete(callId);
    return [...this.postponedUntilMs.keys()];
  }

  private async send(call: OutgoingCall): Promise<void> {
    const { calls, handlers } = this.options;
    calls.countAttempt(call.callId);
    const handler = handlers[call.kind];
    const result = await handler
      .send(call, () => this.waiters.has(call.callId))
      .catch((error: unknown): AttemptResult => ({ kind: 'failed', failure: classifyFailure(error) }));
    // The store is closed, so the result cannot be written. The attempt was counted before it began. Therefore, after
    // the next start, the call is treated as a call that may have reached the platform.
    if (this.isStopped) return;
    this.options.log.info({ callId: call.callId, kind: call.kind, result: result.kind }, 'call to the platform');
    if (result.kind === 'failed') {
      if (result.isUnsent) calls.uncountAttempt(call.callId);
      return this.fail({ ...call, attempts: call.attempts + 1 }, handler, result.failure);
    }
    this.consecutiveOutages = 0;
    this.end(call, result);
  }

  private end(call: OutgoingCall, result: Exclude<AttemptResult, { kind: 'failed' }>): void {
    const problem = result.kind === 'refused' ? result.reason.message : undefined;
    this.options.store.transaction((tx) => {
      result.write?.(tx);
      this.options.calls.end(tx, call.callId, result.kind, problem);
    });
    this.notifyWaiters(call.callId, result.kind === 'done' ? { kind: 'done' } : result.reason);
  }

  private notifyWaiters(callId: number, outcome: CallOutcome): void {
    for (const resolve of [...(this.waiters.get(callId) ?? [])]) resolve(outcome);
  }

  private notifyCancelled(): void {
    for (const callId of [...this.waiters.keys()])
      if (!this.options.calls.isWaiting(callId)) this.notifyWaiters(callId, { kind: 'cancelled' });
  }

  private notifyAllWaiters(outcome: CallOutcome): void {
    for (const callId of [...this.waiters.keys()]) this.notifyWaiters(callId, outcome);
  }

  private fail(call: OutgoingCall, handler: CallHandler, failure: Failure): void {
    const { clock, calls, log } = this.options;
    log.warn(
      { callId: call.callId, kind: call.kind, failure: failure.kind, attempts: call.attempts },
      'call will be repeated',
    );
    if (failure.kind === 'unreachable') return this.beginOutage();
    this.consecutiveOutages = 0;
    const isInProgress = failure.kind === 'in-progress';
    const failures = isInProgress ? call.failures : call.failures + 1;
    if (failures >= MAX_FAILURES) {
      const write = (tx: Parameters<CallHandler['giveUp']>[0]): void => handler.giveUp(tx, call, failure.message);
      return this.end(call, { kind: 'refused', reason: failure, write });
    }
    const pause = isInProgress ? IN_PROGRESS_RETRY_MS : backoffMs(failures, MAX_RETRY_BACKOFF_MS);
    calls.recordFailure(call.callId, { failures, problem: failure.message });
    this.postponedUntilMs.set(call.callId, clock.monotonicMs() + pause);
    this.notifyWaiters(call.callId, isInProgress ? failure : { kind: 'queued' });
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (!this.isStarted || this.isStopped) return;
    const { siteId, name, calls, clock } = this.options;
    const postponedIds = this.listPostponed();
    const hasDueCall = calls.hasDueCall(siteId, name, postponedIds);
    if (!hasDueCall && postponedIds.length === 0) return;
    const now = clock.monotonicMs();
    const dueAtMs = hasDueCall ? now : Math.min(...this.postponedUntilMs.values());
    // The pause is at least 250 ms. A due call may wait for an earlier call of the same invoice or payment, and would
    // otherwise cause a busy loop.
    const pause = Math.max(MIN_PAUSE_MS, Math.max(dueAtMs, this.unreachableUntilMs, this.nextDrainMs) - now);
    this.timer = setTimeout(() => void this.drain(), pause);
  }
}
