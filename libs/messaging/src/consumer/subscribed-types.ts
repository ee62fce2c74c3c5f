import { type EventEnvelope, eventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { EventReplay } from '../broker/broker.js';
import type { EventHandler } from './consumer.js';
import type { DeferredEvents } from './deferred-events.js';

/** Sent by a publisher to the requesting service after the last event of a replay. */
export const ReplayServedV1 = eventType<{ type: string }>('replay.served.v1');

/**
 * A type that no replica has handled for this time counts as retired. A rollout is shorter, and so is the time from a
 * rollback to the next rollout.
 */
const RETIRED_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * The event types that this service is bound to. A type is backfilled when its earlier events have been replayed. At
 * each start the service requests a replay of the types that are not backfilled, from their publishers. A second
 * request is harmless, because the inbox deduplicates replayed events too. In the table, `backfilled_at` is the time at
 * which a type was backfilled, and `next_replay_id` is the id of a request for a further replay.
 */
export class SubscribedTypes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly service: string,
    private readonly eventReplay: EventReplay,
    private readonly clock: Clock,
    private readonly deferred: DeferredEvents,
  ) {}

  /** Types that the service was bound to, and that no replica has handled for a week. */
  async findRetired(types: ReadonlySet<string>): Promise<Set<string>> {
    const rows = await this.dataSource.query<{ type: string }[]>(
      `SELECT type FROM subscribed_types WHERE NOT type = ANY($1) AND renewed_at < $2`,
      [[...types], this.retiredBefore()],
    );
    return new Set(rows.map(({ type }) => type));
  }

  /**
   * Requests the earlier events of these types. Call this method each time after the queue was bound to the types, when
   * the queue already receives new events.
   */
  async requestReplay(types: ReadonlySet<string>): Promise<void> {
    await inTransaction(this.dataSource, (tx) => this.storeTypes(tx, [...types]));
    await this.requestMissingReplays();
  }

  /**
   * Marks all types for a replay. Call this method after the queue was lost, because its messages and all events that
   * were published after the loss are missing.
   */
  async markAllMissing(): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscribed_types SET backfilled_at = NULL, replay_id = gen_random_uuid() WHERE backfilled_at IS NOT NULL`,
    );
  }

  /**
   * Records that this release handles these types, so that other replicas do not delete the deferred events of these
   * types.
   */
  async touch(types: ReadonlySet<string>): Promise<void> {
    await this.dataSource.query(`UPDATE subscribed_types SET renewed_at = $2 WHERE type = ANY($1)`, [
      [...types],
      this.clock.now(),
    ]);
  }

  /**
   * Marks these types for a replay. After the commit, call {@link requestMissingReplays}. Without that call, the replay
   * is requested only at the next start.
   */
  async scheduleReplay(tx: EntityManager, types: readonly string[]): Promise<void> {
    await tx.query(
      `INSERT INTO subscribed_types (type, replay_id, backfilled_at, next_replay_id, renewed_at)
       SELECT type, id, $3, id, $3 FROM unnest($1::text[], $2::uuid[]) AS wanted (type, id)
       ON CONFLICT (type) DO UPDATE SET next_replay_id = excluded.next_replay_id`,
      [types, types.map(() => newUuid(this.clock)), this.clock.now()],
    );
  }

  /**
   * Requests all replays that are not complete. Any replica may call it at any time, because a repeated request has the
   * same id.
   */
  async requestMissingReplays(): Promise<void> {
    const missing = await this.dataSource.query<{ type: string; id: string }[]>(
      `SELECT type, replay_id AS id FROM subscribed_types WHERE backfilled_at IS NULL
       UNION SELECT type, next_replay_id FROM subscribed_types WHERE next_replay_id IS NOT NULL ORDER BY type`,
    );
    for (const { type, id } of missing) await this.requestReplayOf(type, id);
  }

  async isReplayComplete(types: readonly string[]): Promise<boolean> {
    const [row] = await this.dataSource.query<{ open: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM subscribed_types WHERE type = ANY($1) AND next_replay_id IS NOT NULL) AS open`,
      [types],
    );
    return !row!.open && !(await this.deferred.hasAny(types));
  }

  private async requestReplayOf(type: string, id: string): Promise<void> {
    const isRequested = await this.eventReplay.request({ id, service: this.service, type });
    // If no service has published the type yet, there is nothing to replay. Future events arrive anyway.
    if (!isRequested) await this.markReplayed(this.dataSource.manager, type, id);
  }

  /**
   * Whether each of these types is backfilled and no event is deferred as `unknown`. Events that are deferred as
   * `blocked` do not count, because the service can stay ready although they are handled late.
   */
  async areBackfilled(types: ReadonlySet<string>): Promise<boolean> {
    const [row] = await this.dataSource.query<{ backfilled: number }[]>(
      `SELECT count(*)::int AS backfilled FROM subscribed_types WHERE type = ANY($1) AND backfilled_at IS NOT NULL`,
      [[...types]],
    );
    return row!.backfilled === types.size && !(await this.deferred.hasAny(types, 'unknown'));
  }

  /** Handles the end of an event replay. If the event is handled again, only the timestamp changes. */
  readonly onServed: EventHandler = async (events: EventEnvelope[], { tx }) => {
    for (const { payload, aggregateId } of events)
      await this.markReplayed(tx, (payload as { type: string }).type, aggregateId);
  };

  private async storeTypes(tx: EntityManager, types: string[]): Promise<void> {
    // Other types may be handled by replicas of another release, so they are deleted only after a week. If a release
    // handles a deleted type again, it requests a replay.
    await tx.query(
      `WITH retired AS (DELETE FROM subscribed_types WHERE NOT type = ANY($1) AND renewed_at < $2)
       DELETE FROM deferred_events WHERE NOT type = ANY($1) AND deferred_at < $2
         AND NOT EXISTS (SELECT 1 FROM subscribed_types AS handled WHERE handled.type = deferred_events.type AND renewed_at >= $2)`,
      [types, this.retiredBefore()],
    );
    await tx.query(
      `INSERT INTO subscribed_types (type, replay_id, renewed_at) SELECT type, id, $3 FROM unnest($1::text[], $2::uuid[]) AS own (type, id)
       ON CONFLICT (type) DO UPDATE SET renewed_at = excluded.renewed_at`,
      [types, types.map(() => newUuid(this.clock)), this.clock.now()],
    );
  }

  private retiredBefore(): Date {
    return this.clock.later(-RETIRED_AFTER_MS);
  }

  private async markReplayed(db: EntityManager, type: string, replayId: string): Promise<void> {
    await db.query(
      `UPDATE subscribed_types SET backfilled_at = CASE WHEN replay_id = $2 THEN $3 ELSE backfilled_at END,
                                   next_replay_id = CASE WHEN next_replay_id = $2 THEN NULL ELSE next_replay_id END
        WHERE type = $1 AND $2 IN (replay_id, next_replay_id)`,
      [type, replayId, this.clock.now()],
    );
  }
}
