import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { type EventReplay, type ReplayRequest, TypesRefusedError } from '../broker/broker.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import { LOG_BEGINNING } from '../event-log/log-cursor.js';
import { findCursor, type LogBounds, moveCursor, readLog } from '../event-log/log-reader.js';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';

const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 30_000;

interface OpenReplay extends ReplayRequest {
  /** Snapshot (pg_snapshot) of the request. The replay contains the events that were committed then. */
  readonly snapshot: string;
}

/**
 * Serves replays to services that subscribed late. A replay consists of all events of one type that were committed at
 * the time of the request. It is sent directly to the requesting service. The relay publishes later events to that
 * service anyway. A batch that the relay was publishing at the time of the request may arrive twice, and the inbox
 * ignores the second delivery.
 */
export class Replays {
  /** Services that accept no events now, and requests (by id) whose type the broker refuses. */
  private readonly paused = new Map<string, { readonly failures: number; readonly untilMs: number }>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly eventReplay: EventReplay,
    private readonly clock: Clock,
    private readonly bounds: LogBounds,
    private readonly log: MessagingLog,
  ) {}

  /**
   * Stores a request until it is served. If a request that was served is repeated, it is served again, because its
   * service has not received the end of the replay. Then it begins again: a relay that has lost its lease may have
   * left a cursor.
   */
  async accept({ id, service, type }: ReplayRequest): Promise<void> {
    await this.dataSource.query(
      `WITH accepted AS (
         INSERT INTO replays (id, service, type, snapshot, requested_at)
         VALUES ($1, $2, $3, pg_current_snapshot(), $4)
         ON CONFLICT (id) DO UPDATE SET served_at = NULL, snapshot = excluded.snapshot, requested_at = excluded.requested_at
         WHERE replays.served_at IS NOT NULL RETURNING id
       )
       DELETE FROM relay_cursors WHERE target = $5 AND EXISTS (SELECT FROM accepted)`,
      [id, service, type, this.clock.now(), cursorOf(id)],
    );
  }

  /**
   * Delivers one batch of the oldest open request, or the message about the end of its replay. Resolves to 0 if there
   * is no open request. A service that does not accept a batch is paused. The pause is longer after each failure. The
   * requests of other services are served meanwhile.
   */
  async step(): Promise<number> {
    const now = this.clock.now().getTime();
    const paused = [...this.paused].flatMap(([name, { untilMs }]) => (untilMs > now ? [name] : []));
    const [replay] = await this.dataSource.query<OpenReplay[]>(
      `SELECT id, service, type, snapshot::text FROM replays
        WHERE served_at IS NULL AND NOT service = ANY($1) AND NOT id::text = ANY($1) ORDER BY requested_at, id LIMIT 1`,
      [paused],
    );
    if (!replay) return 0;
    try {
      const served = await this.serve(replay);
      this.paused.delete(replay.service);
      this.paused.delete(replay.id);
      return served;
    } catch (error) {
      this.pause(replay, error);
      return 1;
    }
  }

  private pause({ id, service, type }: OpenReplay, error: unknown): void {
    const name = error instanceof TypesRefusedError ? id : service;
    const failures = (this.paused.get(name)?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);
    this.paused.set(name, { failures, untilMs: this.clock.now().getTime() + pauseMs });
    if (isPowerOfTwo(failures))
      this.log.warn({ err: error, service, type, failures }, 'relay: replay request not accepted, will be retried');
  }

  private async serve(replay: OpenReplay): Promise<number> {
    const cursor = cursorOf(replay.id);
    const after = await findCursor(this.dataSource, cursor);
    const { service, type, snapshot } = replay;
    const batch = await readLog(this.dataSource, { after, types: new Set([type]), snapshot }, this.bounds);
    // A service whose queue was deleted requests the replay again at its next start.
    if (batch.events.length > 0 && !(await this.eventReplay.deliver(service, batch.events)))
      return this.close(replay, cursor);
    // The relay publishes the events of the transactions that are open now.
    const { txid, position } = batch.end;
    await moveCursor(this.dataSource, cursor, { ...LOG_BEGINNING, txid, position });
    return batch.hasMore ? 1 : this.finish(replay, cursor);
  }

  private async finish(replay: OpenReplay, cursor: string): Promise<number> {
    await this.eventReplay.deliver(replay.service, [
      {
        // The id is the same each time, so the inbox deduplicates the event.
        id: replay.id,
        type: ReplayServedV1.name,
        aggregateId: replay.id,
        aggregateVersion: 1,
        occurredAt: this.clock.nowISO(),
        payload: { type: replay.type },
      },
    ]);
    return this.close(replay, cursor);
  }

  private async close({ id }: OpenReplay, cursor: string): Promise<number> {
    await this.dataSource.query(
      `WITH gone AS (DELETE FROM relay_cursors WHERE target = $1) UPDATE replays SET served_at = $3 WHERE id = $2`,
      [cursor, id, this.clock.now()],
    );
    return 1;
  }
}

/** Name of the cursor of a replay. */
function cursorOf(id: string): string {
  return `replay:${id}`;
}
