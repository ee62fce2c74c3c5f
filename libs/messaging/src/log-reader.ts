import type { EventEnvelope } from '@svc/contracts';
import type { DataSource } from 'typeorm';

/** What of the log a cursor reads. */
export interface LogScope {
  /** Key of the cursor in relay_cursors; one that is new begins at the beginning. */
  readonly cursor: string;
  /** Only events of this type. */
  readonly type?: string;
  /** Only transactions before this one (xid8). */
  readonly until?: string;
}

export interface LogBounds {
  /** Events read, handed over and marked at once. */
  readonly batchMax: number;
  /** Bytes of payload after which a batch takes no further event, so that a batch of large events fits in memory. */
  readonly batchBytesMax: number;
}

interface LogRow {
  txid: string;
  position: number;
  id: string;
  type: string;
  aggregate_id: string;
  aggregate_version: number;
  occurred_at: Date;
  traceparent: string | null;
  payload: string;
}

export interface LogBatch {
  readonly events: EventEnvelope[];
  /** Where the cursor stands once the batch is handed over. */
  readonly end: { readonly txid: string; readonly position: number };
}

const BEYOND_CURSOR = `(txid, position) > (
  coalesce((SELECT txid FROM relay_cursors WHERE target = $1), '0'::xid8),
  coalesce((SELECT position FROM relay_cursors WHERE target = $1), 0))`;

/** The next events beyond a cursor and below the horizon, in the order (txid, position); undefined when there are none. */
export async function readLog(db: DataSource, scope: LogScope, bounds: LogBounds): Promise<LogBatch | undefined> {
  const parameters: unknown[] = [scope.cursor, bounds.batchMax, bounds.batchBytesMax];
  let within = 'txid < pg_snapshot_xmin(pg_current_snapshot())';
  if (scope.until !== undefined) within += ` AND txid < $${parameters.push(scope.until)}::xid8`;
  if (scope.type !== undefined) within += ` AND type = $${parameters.push(scope.type)}`;
  const rows = await db.query<LogRow[]>(
    `SELECT txid::text, position, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload
       FROM (SELECT *, sum(octet_length(payload)) OVER (ORDER BY txid, position) - octet_length(payload) AS bytes_before
               FROM (SELECT txid, position, id, type, aggregate_id, aggregate_version, occurred_at, traceparent,
                            payload::text AS payload
                       FROM event_log
                      WHERE ${BEYOND_CURSOR} AND ${within}
                      ORDER BY txid, position LIMIT $2) AS readable) AS measured
      WHERE bytes_before < $3 ORDER BY measured.txid, position`,
    parameters,
  );
  const last = rows.at(-1);
  return last && { events: rows.map(asEnvelope), end: { txid: last.txid, position: last.position } };
}

/** Never backwards: of two relays that hand the same batch over, the slower one changes nothing. */
export async function moveCursor(db: DataSource, cursor: string, { txid, position }: LogBatch['end']): Promise<void> {
  await db.query(
    `INSERT INTO relay_cursors (target, txid, position) VALUES ($1, $2::xid8, $3)
     ON CONFLICT (target) DO UPDATE SET txid = excluded.txid, position = excluded.position
     WHERE (relay_cursors.txid, relay_cursors.position) < (excluded.txid, excluded.position)`,
    [cursor, txid, position],
  );
}

/** Whether anything is committed beyond the cursor, also where it cannot be read yet. */
export async function isBehind(db: DataSource, cursor: string): Promise<boolean> {
  const [answer] = await db.query<{ more: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM event_log WHERE ${BEYOND_CURSOR}) AS more`,
    [cursor],
  );
  return answer!.more;
}

/** More events than this are not counted: what matters then is how old the oldest is. */
const COUNTED_MAX = 10_000;

/** How much of the log waits beyond a cursor, and since when its oldest event does. */
export async function lagBehind(db: DataSource, cursor: string): Promise<{ waiting: number; since: Date | null }> {
  const [lag] = await db.query<{ waiting: number; since: Date | null }[]>(
    `SELECT count(*) AS waiting, min(occurred_at) AS since
       FROM (SELECT occurred_at FROM event_log WHERE ${BEYOND_CURSOR} LIMIT ${COUNTED_MAX}) AS beyond`,
    [cursor],
  );
  return lag!;
}

function asEnvelope(row: LogRow): EventEnvelope {
  return {
    id: row.id,
    type: row.type,
    aggregateId: row.aggregate_id,
    aggregateVersion: row.aggregate_version,
    occurredAt: row.occurred_at.toISOString(),
    payload: JSON.parse(row.payload) as unknown,
    ...(row.traceparent ? { traceparent: row.traceparent } : {}),
  };
}
