import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/** A deferred event that is due. */
export interface DeferredEvent {
  readonly envelope: EventEnvelope;
  /** `unknown`: the replica that received it does not know its type. `blocked`: the database kept it from being handled. */
  readonly reason: 'unknown' | 'blocked';
  readonly deferredAt: Date;
  readonly triedAt: Date;
  readonly tries: number;
  /** Tries that timed out although other events of its type succeeded meanwhile. */
  readonly ownFaults: number;
}

/** Events of a type handled at once. */
const BATCH_MAX = 100;
const FIRST_PAUSE_MS = 1_000;
/** Each try takes as long as the statement timeout. */
const PAUSE_AFTER_TIMEOUT_MS_MAX = 60_000;
/** A try ends soon, and what waits may be a revocation: it is due shortly after the lock ends. */
const PAUSE_AFTER_LOCK_MS_MAX = 2_000;

/**
 * Events that cannot be handled now and are no dead letters: they stay in the service's database, and those behind them go
 * on. Acknowledged without that, they would be lost; given back to the broker, they would come straight back and use up
 * their deliveries.
 */
export class DeferredEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Resolves when they are kept. An event that is kept already is blocked from now on, if it was not. */
  async defer(events: readonly EventEnvelope[], reason: DeferredEvent['reason']): Promise<void> {
    const retryAt = reason === 'unknown' ? this.clock.now() : this.clock.later(FIRST_PAUSE_MS);
    await this.dataSource.query(
      `INSERT INTO deferred_events (message_id, type, envelope, reason, deferred_at, tried_at, retry_at)
       SELECT DISTINCT ON (id) id, envelope->>'type', envelope, $2, $3, $3, $4
         FROM (SELECT (envelope->>'id')::uuid AS id, envelope FROM jsonb_array_elements($1::jsonb) AS envelope) AS given
       ON CONFLICT (message_id) DO UPDATE SET reason = excluded.reason, retry_at = excluded.retry_at
       WHERE deferred_events.reason = 'unknown' AND excluded.reason = 'blocked'`,
      [JSON.stringify(events), reason, this.clock.now(), retryAt],
    );
  }

  /**
   * Of each of these types the events that are due, first those that were tried least often: of a poison one others are the
   * proof. A type that is blocked takes no place from another.
   */
  due(types: ReadonlySet<string>): Promise<DeferredEvent[]> {
    return this.dataSource.query<DeferredEvent[]>(
      `SELECT envelope, reason, deferred_at AS "deferredAt", tried_at AS "triedAt", tries, own_faults AS "ownFaults"
         FROM unnest($1::text[]) AS wanted (type) CROSS JOIN LATERAL
              (SELECT * FROM deferred_events WHERE deferred_events.type = wanted.type AND retry_at <= $2
                ORDER BY tries, deferred_at, message_id LIMIT ${BATCH_MAX}) AS due`,
      [[...types], this.clock.now()],
    );
  }

  /** They are handled, or dead letters. Two replicas may have handled the same event at once: its inbox or version undid it. */
  async remove(events: readonly DeferredEvent[]): Promise<void> {
    const of = (reason: string): string[] =>
      events.flatMap((event) => (event.reason === reason ? [event.envelope.id] : []));
    // One that turned out to be blocked when it was handled stays.
    await this.dataSource.query(
      `DELETE FROM deferred_events
        WHERE message_id = ANY($1::uuid[]) AND reason = 'unknown' OR message_id = ANY($2::uuid[]) AND reason = 'blocked'`,
      [of('unknown'), of('blocked')],
    );
  }

  /** It was tried and is still blocked: by a lock, or its statement timed out. */
  async keepBlocked({ envelope, tries }: DeferredEvent, ownFaults: number, isTimeout: boolean): Promise<void> {
    const maxMs = isTimeout ? PAUSE_AFTER_TIMEOUT_MS_MAX : PAUSE_AFTER_LOCK_MS_MAX;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 10), maxMs);
    await this.dataSource.query(
      `UPDATE deferred_events SET tries = tries + 1, own_faults = $2, tried_at = $3, retry_at = $4 WHERE message_id = $1`,
      [envelope.id, ownFaults, this.clock.now(), this.clock.later(pauseMs)],
    );
  }

  /** Whether events of these types are deferred, for this reason or any. */
  async areLeft(types: Iterable<string>, reason?: DeferredEvent['reason']): Promise<boolean> {
    const [row] = await this.dataSource.query<{ left: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM deferred_events
                       WHERE type = ANY($1) AND ($2::text IS NULL OR reason = $2)) AS left`,
      [[...types], reason ?? null],
    );
    return row!.left;
  }
}
