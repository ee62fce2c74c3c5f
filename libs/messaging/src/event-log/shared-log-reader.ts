import { setImmediate } from 'node:timers/promises';
import type { EventEnvelope } from '@svc/contracts';
import type { DataSource } from 'typeorm';
import type { LogCursor } from './log-cursor.js';
import { type LogBatch, type LogBounds, readLog } from './log-reader.js';

/** The events after a cursor, of all types that any reader wants. */
type SharedBatch = Omit<LogBatch, 'bytes'>;

/** Added to the size of each batch, for its cursors. */
const BATCH_OVERHEAD_BYTES = 500;

/**
 * Reads the log for several targets: those that read from the same cursor at the same time share one query, and a target
 * that reads a little later receives from memory what the others have read since. In one process, a relay has a target
 * for each consuming service.
 */
export class SharedLogReader {
  /** The batches that were read last, oldest first, by the cursor from which they were read. */
  private readonly recent = new Map<string, LogBatch>();
  private recentBytes = 0;
  /** The reads that have not begun yet. A read that has begun may not see the events of a later wake-up. */
  private readonly upcoming = new Map<string, Promise<LogBatch>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly bounds: LogBounds,
    /** For each target, the types that it wants. Undefined means all types. */
    private readonly wantedTypes: () => readonly (ReadonlySet<string> | undefined)[],
  ) {}

  async read(after: LogCursor): Promise<SharedBatch> {
    const wanted = this.wantedTypes();
    const types = wanted.includes(undefined) ? undefined : new Set(wanted.flatMap((each) => [...each!]));
    const events: EventEnvelope[] = [];
    let end = after;
    for (let known = this.recent.get(keyOf(end, types)); known; known = this.recent.get(keyOf(end, types))) {
      events.push(...known.events);
      end = known.end;
      if (events.length >= this.bounds.maxBatchEvents) return { events, end, hasMore: true };
    }
    const key = keyOf(end, types);
    const next = await this.readOnce(key, end, types);
    if (keyOf(next.end, types) === key) return { events, end, hasMore: false };
    if (wanted.length > 1) this.remember(key, next);
    return { events: [...events, ...next.events], end: next.end, hasMore: next.hasMore };
  }

  /** All calls before the next turn of the event loop share one query. */
  private readOnce(key: string, after: LogCursor, types: ReadonlySet<string> | undefined): Promise<LogBatch> {
    const upcoming = this.upcoming.get(key) ?? this.readInNextTurn(key, after, types);
    this.upcoming.set(key, upcoming);
    return upcoming;
  }

  private async readInNextTurn(
    key: string,
    after: LogCursor,
    types: ReadonlySet<string> | undefined,
  ): Promise<LogBatch> {
    await setImmediate();
    this.upcoming.delete(key);
    try {
      return await readLog(this.dataSource, { after, types }, this.bounds);
    } catch (error) {
      // After a failover, the log may not contain the events that were read before.
      this.recent.clear();
      this.recentBytes = 0;
      throw error;
    }
  }

  private remember(key: string, batch: LogBatch): void {
    if (this.recent.has(key)) return;
    this.recent.set(key, batch);
    this.recentBytes += batch.bytes + BATCH_OVERHEAD_BYTES;
    for (const [oldest, { bytes }] of this.recent) {
      if (this.recentBytes <= this.bounds.maxBatchBytes) break;
      this.recent.delete(oldest);
      this.recentBytes -= bytes + BATCH_OVERHEAD_BYTES;
    }
  }
}

function keyOf({ txid, position, openTxids }: LogCursor, types: ReadonlySet<string> | undefined): string {
  return `${txid} ${position} ${openTxids.join()} ${types ? [...types].join() : '*'}`;
}
