import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/** Events handled at once. */
const BATCH_MAX = 100;

/**
 * Events that reached a replica which does not know their type, as one of an older release: they stay in the service's
 * database until a replica that knows them handles them. Acknowledged without that, they would be lost; given back to the
 * broker, they would come straight back and use up their deliveries.
 */
export class DeferredEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Resolves when they are kept; a repetition changes nothing. */
  async defer(events: readonly EventEnvelope[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO deferred_events (message_id, type, envelope, deferred_at)
       SELECT (envelope->>'id')::uuid, envelope->>'type', envelope, $2 FROM jsonb_array_elements($1::jsonb) AS envelope
       ON CONFLICT DO NOTHING`,
      [JSON.stringify(events), this.clock.now()],
    );
  }

  /**
   * Hands a batch of these types over and returns its size. Two replicas may take the same batch at once, and one that dies
   * leaves it to the next: the consumer handles each event once.
   */
  async handle(
    types: ReadonlySet<string>,
    deliver: (events: readonly EventEnvelope[]) => Promise<void>,
  ): Promise<number> {
    const rows = await this.dataSource.query<{ envelope: EventEnvelope }[]>(
      `SELECT envelope FROM deferred_events WHERE type = ANY($1) ORDER BY deferred_at, message_id LIMIT ${BATCH_MAX}`,
      [[...types]],
    );
    if (rows.length === 0) return 0;
    await deliver(rows.map(({ envelope }) => envelope));
    const ids = rows.map(({ envelope }) => envelope.id);
    await this.dataSource.query(`DELETE FROM deferred_events WHERE message_id = ANY($1::uuid[])`, [ids]);
    return rows.length;
  }

  async areLeft(types: Iterable<string>): Promise<boolean> {
    const [row] = await this.dataSource.query<{ left: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM deferred_events WHERE type = ANY($1)) AS left`,
      [[...types]],
    );
    return row!.left;
  }
}
