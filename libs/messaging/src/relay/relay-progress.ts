import type { DataSource } from 'typeorm';
import { findCursor, type LogPosition, moveCursor } from '../event-log/log-reader.js';

/** After a crash the next process hands this much over again, which the inboxes undo. */
const SAVED_WITHIN_MS = 250;
/** What was only stepped over need not be handed over again, just read. */
const STEPPED_OVER_WITHIN_MS = 10_000;

interface Batch {
  readonly end: LogPosition;
  readonly delivered: Promise<void>;
  isTaken: boolean;
}

/**
 * How far one target has been handed the log: known here at once, and in the database a moment later. A commit for
 * each batch would cost as much as the batch's own effect.
 */
export class RelayProgress {
  private known: LogPosition | undefined;
  private savedAt = 0;
  /** performance.now() by which it is to be saved. */
  private dueAt = Number.POSITIVE_INFINITY;
  /** Batches under way, in the order of the log. */
  private begun: Batch[] = [];
  private failure: { readonly error: unknown } | undefined;

  /**
   * @param failed called when a batch that nobody waits for was not taken
   * @param origin the cursor to begin at while the target has none of its own
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly target: string,
    private readonly failed: () => void = () => undefined,
    private readonly origin?: string,
  ) {}

  /** Behind what has been handed over and what is under way. Throws what became of the latter, if it failed. */
  async readFrom(): Promise<LogPosition> {
    if (this.failure) await this.settled();
    this.known ??= await findCursor(this.dataSource, this.target, this.origin);
    return this.begun.at(-1)?.end ?? this.known;
  }

  get isIdle(): boolean {
    return this.begun.length === 0;
  }

  /** A batch is under way; the position moves when it and all before it have been taken. */
  begin(end: LogPosition, delivered: Promise<void>): void {
    const batch: Batch = { end, isTaken: false, delivered: delivered.then(() => this.take(batch)) };
    batch.delivered.catch((error: unknown) => {
      if (!this.begun.includes(batch)) return;
      this.failure ??= { error };
      this.failed();
    });
    this.begun.push(batch);
  }

  /** Returns when fewer batches than this are under way. Throws when one was not taken. */
  async roomFor(window: number): Promise<void> {
    while (this.begun.length >= window && !this.failure) await this.begun[0]!.delivered.catch(() => undefined);
    if (this.failure) await this.settled();
  }

  /** Returns when nothing is under way. Throws when a batch was not taken; it and those after it are then read again. */
  async settled(): Promise<void> {
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

  /** Milliseconds until it is to be saved; infinite when it is. */
  get dueInMs(): number {
    return Math.max(0, this.dueAt - performance.now());
  }

  async save(): Promise<void> {
    if (this.known === undefined || this.dueAt === Number.POSITIVE_INFINITY) return;
    await moveCursor(this.dataSource, this.target, this.known);
    this.savedAt = performance.now();
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  /** Another process may relay from now on, and knows better when it is our turn again. */
  forget(): void {
    this.known = undefined;
    this.begun = [];
    this.failure = undefined;
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
