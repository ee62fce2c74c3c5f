import type { DataSource } from 'typeorm';
import type { HeldTypes, LogCursor, TargetCursor } from '../event-log/log-cursor.js';
import { findCursor, moveCursor } from '../event-log/log-reader.js';

/**
 * Time between a delivery and the save of the position. After a crash, the events that were delivered in this time are
 * delivered again, and the inboxes ignore them.
 */
const SAVE_DELAY_MS = 250;
/**
 * Time between the reading of skipped events and the save of the position. This time is longer, because after a crash
 * skipped events are only read again, not delivered.
 */
const SKIPPED_SAVE_DELAY_MS = 10_000;

interface Batch {
  readonly end: LogCursor;
  readonly delivered: Promise<void>;
  isDelivered: boolean;
}

/**
 * Position of one target in the log. It is updated in memory after each batch, and saved in the database a little
 * later, because a commit for each batch would be as expensive as the effect of the batch.
 */
export class RelayProgress {
  private position: LogCursor | undefined;
  private heldTypes: HeldTypes = {};
  private savedAt = 0;
  /** performance.now() of the next save. */
  private dueAt = Number.POSITIVE_INFINITY;
  /** Batches that are being delivered, in the order of the log. */
  private inFlight: Batch[] = [];
  private failure: { readonly error: unknown } | undefined;

  /**
   * @param onFailure called when a batch fails while no caller waits for it
   * @param origin name of another cursor: if the target has no cursor yet, it begins at the position of this cursor
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly target: string,
    private readonly onFailure: () => void = () => undefined,
    private readonly origin?: string,
  ) {}

  /** The position after all batches that were delivered or are in flight. If a batch failed, throws its error. */
  async readFrom(): Promise<LogCursor> {
    if (this.failure) await this.waitUntilIdle();
    if (!this.position) {
      const { held, ...position } = await findCursor(this.dataSource, this.target, this.origin);
      this.position = position;
      this.heldTypes = held;
    }
    return this.inFlight.at(-1)?.end ?? this.position;
  }

  /** Whether the position is cached in memory. Otherwise another process may have moved it. */
  get isLoaded(): boolean {
    return this.position !== undefined;
  }

  /** The cursor after the batches that were delivered. No batch may be in flight. */
  async cursor(): Promise<TargetCursor> {
    return { ...(await this.readFrom()), held: this.heldTypes };
  }

  /** The types whose events are not delivered with the others. Complete after {@link readFrom}. */
  get held(): HeldTypes {
    return this.heldTypes;
  }

  /**
   * Holds a type back from the current position, or moves the position of a held type. Without a position, the type is
   * no longer held. No batch may be in flight.
   */
  hold(type: string, position: LogCursor | undefined): void {
    const { [type]: _, ...others } = this.heldTypes;
    this.heldTypes = position ? { ...others, [type]: position } : others;
    this.scheduleSave(SAVE_DELAY_MS);
  }

  get isIdle(): boolean {
    return this.inFlight.length === 0;
  }

  /**
   * Adds a batch that is being delivered. The position moves when this batch and all batches before it were delivered.
   */
  addBatch(end: LogCursor, delivered: Promise<void>): void {
    const batch: Batch = { end, isDelivered: false, delivered: delivered.then(() => this.markDelivered(batch)) };
    batch.delivered.catch((error: unknown) => {
      if (!this.inFlight.includes(batch)) return;
      this.failure ??= { error };
      this.onFailure();
    });
    this.inFlight.push(batch);
  }

  /** Resolves when fewer than `window` batches are in flight. Throws when a batch failed. */
  async waitForWindow(window: number): Promise<void> {
    while (this.inFlight.length >= window && !this.failure) await this.inFlight[0]!.delivered.catch(() => undefined);
    if (this.failure) await this.waitUntilIdle();
  }

  /**
   * Resolves when no batch is in flight. Throws when a batch failed. That batch and all later batches are then read
   * again.
   */
  async waitUntilIdle(): Promise<void> {
    await Promise.allSettled(this.inFlight.map(({ delivered }) => delivered));
    const { failure } = this;
    this.inFlight = [];
    this.failure = undefined;
    if (failure) throw failure.error;
  }

  private markDelivered(batch: Batch): void {
    batch.isDelivered = true;
    while (this.inFlight[0]?.isDelivered) this.advance(this.inFlight.shift()!.end, true);
  }

  advance(end: LogCursor, hasDelivered: boolean): void {
    if (end === this.position) return;
    this.position = end;
    this.scheduleSave(hasDelivered ? SAVE_DELAY_MS : SKIPPED_SAVE_DELAY_MS);
  }

  private scheduleSave(delayMs: number): void {
    this.dueAt = Math.min(this.dueAt, Math.max(this.savedAt, performance.now() - delayMs) + delayMs);
  }

  /** Milliseconds until the next save. Infinite when there is nothing to save. */
  get dueInMs(): number {
    return Math.max(0, this.dueAt - performance.now());
  }

  async save(): Promise<void> {
    if (this.position === undefined || this.dueAt === Number.POSITIVE_INFINITY) return;
    await moveCursor(this.dataSource, this.target, { ...this.position, held: this.heldTypes });
    this.savedAt = performance.now();
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  /** Discards the cached position after the lease was lost, because another process may now move the position. */
  discard(): void {
    this.position = undefined;
    this.heldTypes = {};
    this.inFlight = [];
    this.failure = undefined;
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
