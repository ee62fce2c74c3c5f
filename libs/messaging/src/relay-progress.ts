import type { DataSource } from 'typeorm';
import { findCursor, type LogPosition, moveCursor } from './log-reader.js';

/** After a crash the next process hands this much over again, which the inboxes undo. */
const SAVED_WITHIN_MS = 250;
/** What was only stepped over need not be handed over again, just read. */
const STEPPED_OVER_WITHIN_MS = 10_000;

/**
 * How far one target has been handed the log: known here at once, and in the database a moment later. A commit for
 * each batch would cost as much as the batch's own effect.
 */
export class RelayProgress {
  private known: LogPosition | undefined;
  private savedAt = 0;
  /** performance.now() by which it is to be saved. */
  private dueAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly dataSource: DataSource,
    private readonly target: string,
  ) {}

  async position(): Promise<LogPosition> {
    this.known ??= await findCursor(this.dataSource, this.target);
    return this.known;
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
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
