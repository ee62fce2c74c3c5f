import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/** A deferred event that is due. */
export interface DeferredEvent {
  readonly envelope: EventEnvelope;
  /**
   * `unknown`: the replica that received it has no handler for its type. `blocked`: a lock or a timeout in the database
   * blocked it.
   */
  readonly reason: 'unknown' | 'blocked';
  readonly deferredAt: Date;
  readonly lastAttemptAt: Date;
  readonly attempts: number;
  /** Number of attempts that timed out although other events of the same type succeeded at that time. */
  readonly ownTimeouts: number;
}

/** Maximum number of due events of one type that a query returns. */
const MAX_BATCH_SIZE = 100;
const FIRST_PAUSE_MS = 1_000;
/** This pause is long, because each attempt lasts as long as the statement timeout. */
const MAX_PAUSE_AFTER_TIMEOUT_MS = 60_000;
/**
 * This pause is short, because an attempt is short, and the event may be a revocation, which must be handled soon after
 * the lock ends.
 */
const MAX_PAUSE_AFTER_LOCK_MS = 2_000;

/**
 * Events that cannot be handled now and are not dead letters. They are stored in the service's database and
 * acknowledged to the broker, so later events do not wait for them. If they were requeued instead, the broker would
 * redeliver them immediately until it dead-letters them.
 */
export class DeferredEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the events are stored. An event that is deferred as `unknown` may become `blocked`. */
  async defer(events: readonly EventEnvelope[], reason: DeferredEvent['reason']): Promise<void> {
    const nextAttemptAt = reason === 'unknown' ? this.clock.now() : this.clock.later(FIRST_PAUSE_MS);
    await this.dataSource.query(
      `INSERT INTO deferred_events (message_id, type, envelope, reason, deferred_at, last_attempt_at, next_attempt_at)
       SELECT DISTINCT ON (id) id, envelope->>'type', envelope, $2, $3, $3, $4
         FROM (SELECT (envelope->>'id')::uuid AS id, envelope FROM jsonb_array_elements($1::jsonb) AS envelope) AS deferred
       ON CONFLICT (message_id) DO UPDATE SET reason = excluded.reason, next_attempt_at = excluded.next_attempt_at
       WHERE deferred_events.reason = 'unknown' AND excluded.reason = 'blocked'`,
      [JSON.stringify(events), reason, this.clock.now(), nextAttemptAt],
    );
  }

  /**
   * Returns the due events of each type. Events with the fewest attempts come first: if they succeed and an event after
   * them times out, that event has caused the timeout itself. The limit applies to each type separately, so that a
   * blocked type does not displace other types.
   */
  findDue(types: ReadonlySet<string>): Promise<DeferredEvent[]> {
    return this.dataSource.query<DeferredEvent[]>(
      `SELECT envelope, reason, deferred_at AS "deferredAt", last_attempt_at AS "lastAttemptAt", attempts, own_timeouts AS "ownTimeouts"
         FROM unnest($1::text[]) AS wanted (type) CROSS JOIN LATERAL
              (SELECT * FROM deferred_events WHERE deferred_events.type = wanted.type AND next_attempt_at <= $2
                ORDER BY attempts, deferred_at, message_id LIMIT ${MAX_BATCH_SIZE}) AS due`,
      [[...types], this.clock.now()],
    );
  }

  /**
   * Deletes events that were handled or became dead letters. If two replicas handled the same event, the second attempt
   * had no effect, because of the event's inbox entry or version.
   */
  async remove(events: readonly DeferredEvent[]): Promise<void> {
    const idsOf = (reason: string): string[] =>
      events.flatMap((event) => (event.reason === reason ? [event.envelope.id] : []));
    // The reason is compared too: an `unknown` event that has become `blocked` meanwhile must stay.
    await this.dataSource.query(
      `DELETE FROM deferred_events
        WHERE message_id = ANY($1::uuid[]) AND reason = 'unknown' OR message_id = ANY($2::uuid[]) AND reason = 'blocked'`,
      [idsOf('unknown'), idsOf('blocked')],
    );
  }

  /** Records an attempt that a lock or a statement timeout blocked, and sets the time of the next attempt. */
  async postpone({ envelope, attempts }: DeferredEvent, ownTimeouts: number, isTimeout: boolean): Promise<void> {
    const maxMs = isTimeout ? MAX_PAUSE_AFTER_TIMEOUT_MS : MAX_PAUSE_AFTER_LOCK_MS;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempts, 10), maxMs);
    await this.dataSource.query(
      `UPDATE deferred_events SET attempts = attempts + 1, own_timeouts = $2, last_attempt_at = $3, next_attempt_at = $4 WHERE message_id = $1`,
      [envelope.id, ownTimeouts, this.clock.now(), this.clock.later(pauseMs)],
    );
  }

  /** Whether any event of these types is deferred, for the given reason or for any reason. */
  async hasAny(types: Iterable<string>, reason?: DeferredEvent['reason']): Promise<boolean> {
    const [row] = await this.dataSource.query<{ left: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM deferred_events
                       WHERE type = ANY($1) AND ($2::text IS NULL OR reason = $2)) AS left`,
      [[...types], reason ?? null],
    );
    return row!.left;
  }
}
