import type { Clock } from '@svc/kernel';
import type { ServiceLog } from '@svc/service/standalone';
import type { Store } from '../store/store.js';
import { backoffMs } from './backoff.js';
import type { CallHandler, CallHandlers, TryResult } from './call-handler.js';
import { classifyFailure, type Failure } from './failure.js';
import type { LaneName, OutgoingCall, OutgoingCallRepository } from './outgoing-call.repository.js';

/** The outcome of a call for the till that waits for it. `queued`: the call is kept, and made later. */
export type Outcome = { readonly kind: 'done' } | { readonly kind: 'queued' } | Failure;

export interface LaneSurroundings {
  readonly siteId: number;
  readonly name: LaneName;
  readonly store: Store;
  readonly calls: OutgoingCallRepository;
  readonly handlers: CallHandlers;
  readonly clock: Clock;
  readonly log: ServiceLog;
}

/** Longest pause while the platform cannot be reached: a till shows a code soon after it is back. */
const UNREACHABLE_MS_MAX = 10_000;
/** A customer who pays takes a moment; the platform is asked again. */
const IN_PROGRESS_MS = 2_000;
const LATER_MS_MAX = 300_000;
/**
 * The sender gives a call up after this many failures, which take about three hours, and writes an alert. Tries during an outage
 * are not among them: an outage may last for days, and loses nothing.
 */
const FAILURES_MAX = 50;

/** The calls of one site that are made one after the other. */
export class Lane {
  private draining: Promise<void> = Promise.resolve();
  private isDraining = false;
  /** Of a call there may be several: a till that repeats a total waits for the same one. */
  private readonly waiters = new Map<number, Set<(outcome: Outcome) => void>>();
  /** Outages in a row. */
  private outages = 0;
  private awayUntil = 0;
  private timer: NodeJS.Timeout | undefined;
  private isStarted = false;
  private isStopped = false;

  constructor(private readonly surroundings: LaneSurroundings) {}

  /** From now on calls are made when they are due, also without a till that waits. */
  start(): void {
    this.isStarted = true;
    void this.drain();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.answerAll({ kind: 'queued' });
  }

  /** The platform was heard: what waits is sent at once. */
  reachable(): void {
    this.awayUntil = 0;
    void this.drain();
  }

  get isAway(): boolean {
    return this.awayUntil > this.surroundings.clock.now().getTime();
  }

  /** Sends now, and waits for the outcome of one call; `queued` where it takes longer, or nothing can be sent. */
  async outcomeOf(callId: number, withinMs: number): Promise<Outcome> {
    if (this.isAway || this.isStopped) return { kind: 'queued' };
    const outcome = new Promise<Outcome>((resolve) => {
      const timer = setTimeout(() => end({ kind: 'queued' }), withinMs);
      const end = (result: Outcome): void => {
        clearTimeout(timer);
        const others = this.waiters.get(callId);
        others?.delete(end);
        if (others?.size === 0) this.waiters.delete(callId);
        resolve(result);
      };
      this.waiters.set(callId, (this.waiters.get(callId) ?? new Set()).add(end));
    });
    void this.drain();
    return outcome;
  }

  /** Makes every call that is due, in order. */
  drain(): Promise<void> {
    if (this.isDraining) return this.draining;
    this.isDraining = true;
    this.draining = this.sendAll()
      .catch((error: unknown) => this.surroundings.log.error({ err: error }, 'calls to the platform were interrupted'))
      .finally(() => this.schedule());
    return this.draining;
  }

  private async sendAll(): Promise<void> {
    const { siteId, name, calls } = this.surroundings;
    try {
      while (!this.isStopped && !this.isAway) {
        const call = calls.findNext(siteId, name);
        if (!call) return;
        await this.send(call);
      }
    } finally {
      // Synchronously: a call of drain() in a later microtask must start a new run.
      this.isDraining = false;
    }
  }

  private async send(call: OutgoingCall): Promise<void> {
    const { calls, handlers } = this.surroundings;
    calls.countTry(call.callId);
    const handler = handlers[call.kind];
    const result = await handler
      .send(call, () => this.waiters.has(call.callId))
      .catch((error: unknown): TryResult => ({ kind: 'failed', failure: classifyFailure(error) }));
    // The store is closed: the next start finds the call as one that may have reached the platform.
    if (this.isStopped) return;
    this.surroundings.log.info({ callId: call.callId, kind: call.kind, result: result.kind }, 'call to the platform');
    if (result.kind === 'failed') return this.fail({ ...call, tries: call.tries + 1 }, handler, result.failure);
    this.outages = 0;
    this.end(call, result);
  }

  private end(call: OutgoingCall, result: Exclude<TryResult, { kind: 'failed' }>): void {
    const problem = result.kind === 'refused' ? result.reason.message : undefined;
    this.surroundings.store.transaction((tx) => {
      result.write?.(tx);
      this.surroundings.calls.end(tx, call.callId, result.kind, problem);
    });
    this.answer(call.callId, result.kind === 'done' ? { kind: 'done' } : result.reason);
  }

  private answer(callId: number, outcome: Outcome): void {
    for (const resolve of [...(this.waiters.get(callId) ?? [])]) resolve(outcome);
  }

  private answerAll(outcome: Outcome): void {
    for (const callId of [...this.waiters.keys()]) this.answer(callId, outcome);
  }

  private fail(call: OutgoingCall, handler: CallHandler, failure: Failure): void {
    const { clock, calls, log } = this.surroundings;
    log.warn(
      { callId: call.callId, kind: call.kind, failure: failure.kind, tries: call.tries },
      'call will be repeated',
    );
    if (failure.kind === 'unreachable') {
      this.outages++;
      this.awayUntil = clock.now().getTime() + backoffMs(this.outages, UNREACHABLE_MS_MAX);
      this.answerAll({ kind: 'queued' });
      return;
    }
    this.outages = 0;
    const isInProgress = failure.kind === 'in-progress';
    const failures = isInProgress ? call.failures : call.failures + 1;
    if (failures >= FAILURES_MAX) {
      const write = (tx: Parameters<CallHandler['giveUp']>[0]): void => handler.giveUp(tx, call, failure.message);
      return this.end(call, { kind: 'refused', reason: failure, write });
    }
    const pause = isInProgress ? IN_PROGRESS_MS : backoffMs(failures, LATER_MS_MAX);
    calls.postpone(call.callId, { dueAt: clock.later(pause), failures, problem: failure.message });
    this.answer(call.callId, isInProgress ? failure : { kind: 'queued' });
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (!this.isStarted || this.isStopped) return;
    const { siteId, name, calls, clock } = this.surroundings;
    const dueAt = calls.nextDueAt(siteId, name);
    if (dueAt === undefined) return;
    const now = clock.now().getTime();
    // A call that is due and blocked by one of its subject would otherwise be looked for without a pause.
    const pause = Math.max(250, Math.max(Date.parse(dueAt), this.awayUntil) - now);
    this.timer = setTimeout(() => void this.drain(), pause);
  }
}
