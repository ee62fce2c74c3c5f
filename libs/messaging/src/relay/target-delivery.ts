import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { type RelayTarget, TypesRefusedError } from '../broker/broker.js';
import type { LogCursor } from '../event-log/log-cursor.js';
import { type LogBounds, readLog } from '../event-log/log-reader.js';
import type { SharedLogReader } from '../event-log/shared-log-reader.js';
import type { MessagingLog } from '../log.js';
import type { Step } from './relay-loop.js';
import { RelayProgress } from './relay-progress.js';

/** Shared by all targets of a relay. */
interface DeliveryContext {
  readonly dataSource: DataSource;
  readonly clock: Clock;
  readonly log: MessagingLog;
  readonly bounds: LogBounds;
  readonly reader: SharedLogReader;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Delivers the log to one target, batch by batch. A type that the target refuses is held back: all other events are
 * delivered without it, and its events are tried again with growing pauses. When the target accepts the type, its
 * events are delivered in their order. When they have reached the position of the other events, the type is delivered
 * with them again.
 */
export class TargetDelivery {
  readonly progress: RelayProgress;
  private readonly refused = new Map<string, { readonly failures: number; readonly retryAtMs: number }>();

  /**
   * @param onFailure called when a batch fails while no caller waits for it
   * @param origin see {@link RelayProgress}
   */
  constructor(
    private readonly target: RelayTarget,
    private readonly context: DeliveryContext,
    onFailure?: () => void,
    origin?: string,
  ) {
    this.progress = new RelayProgress(context.dataSource, target.name, onFailure, origin);
  }

  /** Delivers one batch. If `isRecovering` is true, it waits until the batch is confirmed. */
  async step(isRecovering = false): Promise<Step> {
    try {
      const step = await this.deliverBatch(isRecovering);
      const hasTriedHeld = await this.deliverHeldType();
      return { ...step, hasMore: step.hasMore || hasTriedHeld };
    } catch (error) {
      if (!(error instanceof TypesRefusedError)) throw error;
      await this.holdBack(error);
      return { deliveredCount: 0, hasMore: true };
    }
  }

  private async deliverBatch(isRecovering: boolean): Promise<Step> {
    const { target, progress } = this;
    const batch = await this.context.reader.read(await progress.readFrom());
    const events = batch.events.filter(({ type }) => this.isWanted(type));
    if (events.length > 0) progress.addBatch(batch.end, target.deliver(events));
    else if (progress.isIdle) progress.advance(batch.end, false);
    await progress.waitForWindow(isRecovering ? 1 : (target.window ?? 1));
    return { deliveredCount: events.length, hasMore: batch.hasMore };
  }

  private isWanted(type: string): boolean {
    const { types } = this.target;
    return (!types || types.has(type)) && !Object.hasOwn(this.progress.held, type);
  }

  /** Called after a refusal, when no batch is in flight, so the refused events are after the current position. */
  private async holdBack(error: TypesRefusedError): Promise<void> {
    const { progress } = this;
    const position = await progress.readFrom();
    const types = [...error.types].filter((type) => !progress.held[type]);
    // Without this, a target that refuses a type which is not in the batch would be called in an endless loop.
    if (types.length === 0) throw error;
    for (const type of types) {
      progress.hold(type, position);
      this.pause(type);
    }
    this.context.log.error(
      { err: error, target: this.target.name, types },
      'relay: types held back, because the target refuses them',
    );
  }

  private pause(type: string): void {
    const failures = (this.refused.get(type)?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    this.refused.set(type, { failures, retryAtMs: this.nowMs() + pauseMs });
  }

  /** Tries to deliver a batch of one held type. Resolves to false if no held type is due. */
  private async deliverHeldType(): Promise<boolean> {
    const { target, progress } = this;
    const due = Object.entries(progress.held).find(
      ([type]) => (this.refused.get(type)?.retryAtMs ?? 0) <= this.nowMs(),
    );
    if (!due) return false;
    const [type, after] = due;
    // The batches in flight do not contain the type either.
    await progress.waitUntilIdle();
    const upTo = await progress.readFrom();
    const { dataSource, bounds } = this.context;
    const { events, end, hasMore } = await readLog(dataSource, { after, types: new Set([type]), upTo }, bounds);
    try {
      if (events.length > 0) await target.deliver(events);
    } catch (error) {
      if (!(error instanceof TypesRefusedError)) throw error;
      this.pause(type);
      return true;
    }
    this.release(type, hasMore ? end : undefined);
    return true;
  }

  /** Call this after a batch of the held type was delivered up to the position, or to the end without a position. */
  private release(type: string, position: LogCursor | undefined): void {
    this.progress.hold(type, position);
    if (position) return;
    this.refused.delete(type);
    this.context.log.info({ target: this.target.name, type }, 'relay: all held events of a type are delivered');
  }

  private nowMs(): number {
    return this.context.clock.now().getTime();
  }
}
