import { type EventEnvelope, eventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { EventReplay } from '../broker/broker.js';
import type { EventHandler } from './consumer.js';
import type { DeferredEvents } from './deferred-events.js';

/** Sent by a publisher to the requesting service after the last event of a replay. */
export const ReplayServedV1 = eventType<{ type: string }>('replay.served.v1');

/** Longest time of a rollout, or of a release that was rolled back. After that a type counts as retired. */
const RETIRED_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * The event types that this service is bound to, and whether each is backfilled. Each time it is bound, the service requests a
 * replay of the types that are not, from their publishers. A second request is harmless: replayed events pass through the inbox
 * like all others.
 */
export class SubscribedTypes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly service: string,
    private readonly eventReplay: EventReplay,
    private readonly clock: Clock,
    private readonly deferred: DeferredEvents,
  ) {}

  /** Types that an earlier release was bound to, and that no replica has handled for longer than a rollout may take. */
  async retired(types: ReadonlySet<string>): Promise<Set<string>> {
    const rows = await this.dataSource.query<{ type: string }[]>(
      `SELECT type FROM subscribed_types WHERE NOT type = ANY($1) AND known_at < $2`,
      [[...types], this.retiredBefore()],
    );
    return new Set(rows.map(({ type }) => type));
  }

  /** To be called after each binding: from then on the queue gets new events, and this requests the earlier ones. */
  async requestReplay(types: ReadonlySet<string>): Promise<void> {
    await inTransaction(this.dataSource, (tx) => this.keep(tx, [...types]));
    await this.requestMissingReplays();
  }

  /** To be called when the queue was lost, with its messages and those published since: all types need a replay. */
  async markAllMissing(): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscribed_types SET given_at = NULL, replay_id = gen_random_uuid() WHERE given_at IS NOT NULL`,
    );
  }

  /** Records that this release handles these types, so that other replicas keep their events for it. */
  async touch(types: ReadonlySet<string>): Promise<void> {
    await this.dataSource.query(`UPDATE subscribed_types SET known_at = $2 WHERE type = ANY($1)`, [
      [...types],
      this.clock.now(),
    ]);
  }

  /**
   * Marks these types for a replay, until {@link isReplayComplete}. To be requested after the commit; otherwise it is requested at
   * the next binding.
   */
  async scheduleReplay(tx: EntityManager, types: readonly string[]): Promise<void> {
    await tx.query(
      `INSERT INTO subscribed_types (type, replay_id, given_at, again_id)
       SELECT type, id, $3, id FROM unnest($1::text[], $2::uuid[]) AS asking (type, id)
       ON CONFLICT (type) DO UPDATE SET again_id = excluded.again_id`,
      [types, types.map(() => newUuid(this.clock)), this.clock.now()],
    );
  }

  /** Any replica may call it at any time: a repeated request has the same id. */
  async requestMissingReplays(): Promise<void> {
    const missing = await this.dataSource.query<{ type: string; id: string }[]>(
      `SELECT type, replay_id AS id FROM subscribed_types WHERE given_at IS NULL
       UNION SELECT type, again_id FROM subscribed_types WHERE again_id IS NOT NULL ORDER BY type`,
    );
    for (const { type, id } of missing) await this.ask(type, id);
  }

  async isReplayComplete(types: readonly string[]): Promise<boolean> {
    const [row] = await this.dataSource.query<{ open: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM subscribed_types WHERE type = ANY($1) AND again_id IS NOT NULL) AS open`,
      [types],
    );
    return !row!.open && !(await this.deferred.hasAny(types));
  }

  private async ask(type: string, id: string): Promise<void> {
    const isRequested = await this.eventReplay.request({ id, service: this.service, type });
    // No service has published the type yet: its future events arrive anyway.
    if (!isRequested) await this.given(this.dataSource.manager, type, id);
  }

  /**
   * Whether each of these types is backfilled, and none of its events waits for a replica that knows it. Events that the database
   * blocks are a lag like others: the service stays ready.
   */
  async areBackfilled(types: ReadonlySet<string>): Promise<boolean> {
    const [row] = await this.dataSource.query<{ given: number }[]>(
      `SELECT count(*)::int AS given FROM subscribed_types WHERE type = ANY($1) AND given_at IS NOT NULL`,
      [[...types]],
    );
    return row!.given === types.size && !(await this.deferred.hasAny(types, 'unknown'));
  }

  /** Replay: sets the same mark again. */
  readonly onServed: EventHandler = async (events: EventEnvelope[], { tx }) => {
    for (const { payload, aggregateId } of events)
      await this.given(tx, (payload as { type: string }).type, aggregateId);
  };

  private async keep(tx: EntityManager, types: string[]): Promise<void> {
    // A replica of a newer release may handle the others: a type that none has handled for so long is replayed when it comes back.
    await tx.query(
      `WITH retired AS (DELETE FROM subscribed_types WHERE NOT type = ANY($1) AND known_at < $2)
       DELETE FROM deferred_events WHERE NOT type = ANY($1) AND deferred_at < $2
         AND NOT EXISTS (SELECT 1 FROM subscribed_types AS handled WHERE handled.type = deferred_events.type AND known_at >= $2)`,
      [types, this.retiredBefore()],
    );
    await tx.query(
      `INSERT INTO subscribed_types (type, replay_id, known_at) SELECT type, id, $3 FROM unnest($1::text[], $2::uuid[]) AS own (type, id)
       ON CONFLICT (type) DO UPDATE SET known_at = excluded.known_at`,
      [types, types.map(() => newUuid(this.clock)), this.clock.now()],
    );
  }

  private retiredBefore(): Date {
    return this.clock.later(-RETIRED_AFTER_MS);
  }

  private async given(db: EntityManager, type: string, replayId: string): Promise<void> {
    await db.query(
      `UPDATE subscribed_types SET given_at = CASE WHEN replay_id = $2 THEN $3 ELSE given_at END,
                                   again_id = CASE WHEN again_id = $2 THEN NULL ELSE again_id END
        WHERE type = $1 AND $2 IN (replay_id, again_id)`,
      [type, replayId, this.clock.now()],
    );
  }
}
