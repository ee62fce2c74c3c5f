import type { DataSource } from 'typeorm';

// A cursor is the position in the event log up to which events were delivered. Normally a target (a message broker) has
// one cursor for all its consumers. While the relay delivers to each consumer separately, because a queue is full, each
// consumer has its own cursor with the name `<target>/<consumer>`, and the cursor of the target does not move. A
// consumer that subscribes during this time begins at the position of the target's cursor, so that it misses no events.

export async function hasSeparateCursors(db: DataSource, target: string): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM relay_cursors WHERE starts_with(target, $1 || '/')) AS has`,
    [target],
  );
  return row!.has;
}

/** Creates a cursor for each consumer at the position of the target's cursor. Existing cursors do not change. */
export async function separateCursors(db: DataSource, target: string, consumers: readonly string[]): Promise<void> {
  await db.query(
    `INSERT INTO relay_cursors (target, txid, position, held)
     SELECT consumer, coalesce(own.txid, '0'::xid8), coalesce(own.position, 0), coalesce(own.held, '{}')
       FROM unnest($2::text[]) AS consumer LEFT JOIN relay_cursors AS own ON own.target = $1
     ON CONFLICT (target) DO NOTHING`,
    [target, consumers],
  );
}

/**
 * Deletes the consumers' cursors. The target continues at the position of its slowest consumer, so the other consumers
 * receive some events a second time. A type that some consumers have held back stays held back.
 */
export async function joinCursors(db: DataSource, target: string, consumers: readonly string[]): Promise<void> {
  await db.query(
    `WITH joined AS (SELECT txid, position, held FROM relay_cursors WHERE target = ANY($2)),
          last AS (SELECT txid, position FROM joined ORDER BY txid, position LIMIT 1),
          first_held AS (
            SELECT DISTINCT ON (type) type, held_at
              FROM joined, jsonb_each(joined.held) AS each (type, held_at)
             ORDER BY type, (held_at ->> 'txid')::xid8, (held_at ->> 'position')::bigint),
          gone AS (DELETE FROM relay_cursors WHERE starts_with(target, $1 || '/'))
     INSERT INTO relay_cursors (target, txid, position, held)
     SELECT $1, txid, position,
            coalesce((SELECT jsonb_object_agg(type, held_at) FROM first_held
                       WHERE ((held_at ->> 'txid')::xid8, (held_at ->> 'position')::bigint) < (last.txid, last.position)), '{}')
       FROM last
     ON CONFLICT (target) DO UPDATE SET txid = excluded.txid, position = excluded.position, held = excluded.held
     WHERE (relay_cursors.txid, relay_cursors.position) <= (excluded.txid, excluded.position)`,
    [target, consumers],
  );
}
