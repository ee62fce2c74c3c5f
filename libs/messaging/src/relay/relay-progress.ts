import type { DataSource } from 'typeorm';
import { findCursor, type LogPosition, moveCursor } from '../event-log/log-reader.js';

/** After a crash the next process hands over this much again, and the inboxes ignore it. */
const SAVED_WITHIN_MS = 250;
/** Skipped events are only read again, not handed over. */
const STEPPED_OVER_WITHIN_MS = 10_000;

interface Batch {
  readonly end: LogPosition;
  readonly delivered: Promise<void>;
  isTaken: boolean;
}

/**
 * Progress of one target in the log: known here at once, and saved in the database a moment later. A commit for each batch
 * would cost as much as the batch's own effect.
 */
export class RelayProgress {
  private known: LogPosition | undefined;
  private savedAt = 0;
  /** performance.now() of the next save. */
  private dueAt = Number.POSITIVE_INFINITY;
  /** Batches under way, in the order of the log. */
  private begun: Batch[] = [];
  private failure: { readonly error: unknown } | undefined;

  /**
   * @param failed called when a batch failed and no caller waits for it
   * @param origin the cursor to begin at while the target has none of its own
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly target: string,
    private readonly failed: () => void = () => undefined,
    private readonly origin?: string,
  ) {}

  /** The position after all batches that are handed over or under way. Throws the error of one that failed. */
  async readFrom(): Promise<LogPosition> {
    if (this.failure) await this.waitUntilIdle();
    this.known ??= await findCursor(this.dataSource, this.target, this.origin);
    return this.begun.at(-1)?.end ?? this.known;
  }

  get isIdle(): boolean {
    return this.begun.length === 0;
  }

  /** Adds a batch that is under way; the position moves when the target has accepted it and all before it. */
  begin(end: LogPosition, delivered: Promise<void>): void {
    const batch: Batch = { end, isTaken: false, delivered: delivered.then(() => this.take(batch)) };
    batch.delivered.catch((error: unknown) => {
      if (!this.begun.includes(batch)) return;
      this.failure ??= { error };
      this.failed();
    });
    this.begun.push(batch);
  }

  /** Returns when fewer batches than this are under way. Throws when one failed. */
  async waitForWindow(window: number): Promise<void> {
    while (this.begun.length >= window && !this.failure) await this.begun[0]!.delivered.catch(() => undefined);
    if (this.failure) await this.waitUntilIdle();
  }

  /** Returns when no batch is under way. Throws when one failed; it and later ones are then read again. */
  async waitUntilIdle(): Promise<void> {
    await Promise.allSettled(this.begun.map(({ delivered }) => delivered));
    const { failure } = this;
    this.begun = [];
    this.failure = undefined;
    if (failure) throw failure.error;
  }

  private take(batch: Batch): void {
    batch.isTaken = true;
    while (this.begun[0]?.isTaken) this.advance(this.begun.shift()!.end, true);
  }

  advance(end: LogPosition, handedOver: boolean): void {
    if (end === this.known) return;
    this.known = end;
    const within = handedOver ? SAVED_WITHIN_MS : STEPPED_OVER_WITHIN_MS;
    this.dueAt = Math.min(this.dueAt, Math.max(this.savedAt, performance.now() - within) + within);
  }

  /** Milliseconds until the next save; infinite when there is nothing to save. */
  get dueInMs(): number {
    return Math.max(0, this.dueAt - performance.now());
  }

  async save(): Promise<void> {
    if (this.known === undefined || this.dueAt === Number.POSITIVE_INFINITY) return;
    await moveCursor(this.dataSource, this.target, this.known);
    this.savedAt = performance.now();
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  /** The lease was lost: discards the cached position, which another process may move from now on. */
  discard(): void {
    this.known = undefined;
    this.begun = [];
    this.failure = undefined;
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
