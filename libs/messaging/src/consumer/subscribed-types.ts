import { type EventEnvelope, eventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { Past } from '../broker/broker.js';
import type { EventHandler } from './consumer.js';
import type { DeferredEvents } from './deferred-events.js';

/** Said by a publisher, straight to the service that asked, behind the last event of the past. */
export const ReplayServedV1 = eventType<{ type: string }>('replay.served.v1');

/** Longest that a rollout, or a release that was rolled back, may take. After that a type is taken to be given up. */
const RETIRED_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * Which types of events this service is bound to, and whether it has been given each from the beginning. Those it
 * has not it asks for, of whoever publishes them, each time it is bound until it has been given them. Asking twice is
 * harmless: what is replayed goes through the inbox like everything else.
 */
export class SubscribedTypes {
  constructor(
    private readonly dataSource: DataSource,
    private readonly service: string,
    private readonly past: Past,
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

  /** To be called when the service is bound: from then on nothing new passes it by, and what was before is asked for. */
  async askForThePast(types: ReadonlySet<string>): Promise<void> {
    await inTransaction(this.dataSource, (tx) => this.keep(tx, [...types]));
    await this.askForWhatIsMissing();
  }

  /** The queue was lost with what was in it, and what was published since: all of it has to come again. */
  async loseAll(): Promise<void> {
    await this.dataSource.query(
      `UPDATE subscribed_types SET given_at = NULL, replay_id = gen_random_uuid() WHERE given_at IS NOT NULL`,
    );
  }

  /** Says that this release handles these types: others keep their events for it. */
  async touch(types: ReadonlySet<string>): Promise<void> {
    await this.dataSource.query(`UPDATE subscribed_types SET known_at = $2 WHERE type = ANY($1)`, [
      [...types],
      this.clock.now(),
    ]);
  }

  /**
   * Everything of these types is missing once more, until {@link haveBeenToldAgain}. To be asked for after the commit; where
   * that comes to nothing, it is asked for when the service is bound the next time.
   */
  async missAgain(tx: EntityManager, types: readonly string[]): Promise<void> {
    await tx.query(
      `INSERT INTO subscribed_types (type, replay_id, given_at, again_id)
       SELECT type, id, $3, id FROM unnest($1::text[], $2::uuid[]) AS asking (type, id)
       ON CONFLICT (type) DO UPDATE SET again_id = excluded.again_id`,
      [types, types.map(() => newUuid(this.clock)), this.clock.now()],
    );
  }

  /** May be called at any time by any replica: what was asked for already is asked for under the same id. */
  async askForWhatIsMissing(): Promise<void> {
    const missing = await this.dataSource.query<{ type: string; id: string }[]>(
      `SELECT type, replay_id AS id FROM subscribed_types WHERE given_at IS NULL
       UNION SELECT type, again_id FROM subscribed_types WHERE again_id IS NOT NULL ORDER BY type`,
    );
    for (const { type, id } of missing) await this.ask(type, id);
  }

  async haveBeenToldAgain(types: readonly string[]): Promise<boolean> {
    const [row] = await this.dataSource.query<{ open: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM subscribed_types WHERE type = ANY($1) AND again_id IS NOT NULL) AS open`,
      [types],
    );
    return !row!.open && !(await this.deferred.areLeft(types));
  }

  private async ask(type: string, id: string): Promise<void> {
    const asked = await this.past.ask({ id, service: this.service, type });
    // Nobody has published it: whatever there will be comes by itself.
    if (!asked) await this.given(this.dataSource.manager, type, id);
  }

  /**
   * Whether each of these types has been given from the beginning, and none of its events waits for a replica that knows it.
   * What the database blocks is a lag like others, and no reason to be unready.
   */
  async areComplete(types: ReadonlySet<string>): Promise<boolean> {
    const [row] = await this.dataSource.query<{ given: number }[]>(
      `SELECT count(*)::int AS given FROM subscribed_types WHERE type = ANY($1) AND given_at IS NOT NULL`,
      [[...types]],
    );
    return row!.given === types.size && !(await this.deferred.areLeft(types, 'unknown'));
  }

  /** Replay: sets the same mark again. */
  readonly onServed: EventHandler = async (events: EventEnvelope[], { tx }) => {
    for (const { payload, aggregateId } of events)
      await this.given(tx, (payload as { type: string }).type, aggregateId);
  };

  private async keep(tx: EntityManager, types: string[]): Promise<void> {
    // A replica of a newer release may handle them: what none has handled for so long is asked for anew when it comes back.
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
