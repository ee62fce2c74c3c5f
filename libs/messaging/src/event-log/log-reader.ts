import type { EventEnvelope } from '@svc/contracts';
import type { DataSource } from 'typeorm';
import { earliest, LOG_BEGINNING, type LogCursor, type LogPosition, type TargetCursor } from './log-cursor.js';

/** Selects the events to read. */
export interface LogScope {
  readonly after: LogCursor;
  /** Only events of these types. Events of other types are skipped. */
  readonly types?: ReadonlySet<string> | undefined;
  /** Only events that this snapshot (pg_snapshot) saw. */
  readonly snapshot?: string;
  /** Only events up to this position. */
  readonly upTo?: LogPosition;
}

export interface LogBounds {
  /** Maximum number of events in a batch. */
  readonly maxBatchEvents: number;
  /** A batch ends when its payloads have this many bytes, so that a batch of large events fits in memory. */
  readonly maxBatchBytes: number;
}

interface LogRow {
  /** The transaction was open at the read before. */
  late: boolean;
  txid: string;
  position: number;
  wanted: boolean;
  id: string;
  type: string;
  aggregate_id: string;
  aggregate_version: number;
  occurred_at: Date;
  traceparent: string | null;
  /** Null if events of this type are skipped. */
  payload: string | null;
}

export interface LogBatch {
  readonly events: readonly EventEnvelope[];
  /** The cursor once the batch is delivered. The same object as `after` if the cursor has not moved. */
  readonly end: LogCursor;
  /** True if a limit ended the batch: more events can be read immediately. */
  readonly hasMore: boolean;
  /** Size of the payloads. */
  readonly bytes: number;
}

/** Position of a cursor. A new cursor begins at the position of the cursor `origin`, or at the beginning of the log. */
export async function findCursor(db: DataSource, cursor: string, origin = cursor): Promise<TargetCursor> {
  const [row] = await db.query<TargetCursor[]>(
    `SELECT txid::text AS txid, position, open_txids::text[] AS "openTxids", held
       FROM relay_cursors WHERE target IN ($1, $2) ORDER BY target = $1 DESC LIMIT 1`,
    [cursor, origin],
  );
  return row ?? LOG_BEGINNING;
}

/**
 * The committed events that a cursor has not passed. They are read in the order (txid, position), in which the limits
 * end a batch, and returned in the order of their positions. A limit does not divide the events of a transaction that
 * was open at the read before.
 *
 * The rows and the open transactions are those of one snapshot. So an event that this read does not see either comes
 * after the new position, or belongs to a transaction in the new `openTxids`.
 */
export async function readLog(db: DataSource, scope: LogScope, bounds: LogBounds): Promise<LogBatch> {
  const { after } = scope;
  const types = scope.types ? [...scope.types] : null;
  const { maxBatchEvents, maxBatchBytes } = bounds;
  const parameters: unknown[] = [after.txid, after.position, after.openTxids, maxBatchEvents, maxBatchBytes, types];
  const visible =
    scope.snapshot === undefined
      ? ''
      : `AND pg_visible_in_snapshot(txid, $${parameters.push(scope.snapshot)}::pg_snapshot)
                              AND txid < pg_snapshot_xmax($${parameters.length}::pg_snapshot)`;
  const upTo = scope.upTo
    ? `AND (txid, position) <= ($${parameters.push(scope.upTo.txid)}::xid8, $${parameters.push(scope.upTo.position)}::bigint)`
    : '';
  const [first, ...others] = await db.query<[SnapshotRow, ...LogRow[]]>(
    `SELECT snapshot, late, txid::text AS txid, position, wanted, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload
       FROM (SELECT pg_current_snapshot()::text AS snapshot) AS now
       LEFT JOIN (SELECT *, sum(coalesce(octet_length(payload), 0)) OVER (ORDER BY txid, position) - coalesce(octet_length(payload), 0) AS bytes_before
                    FROM (SELECT true AS late, ${COLUMNS} FROM event_log WHERE txid = ANY ($3::xid8[])
                           UNION ALL
                          (SELECT false, ${COLUMNS} FROM event_log
                            WHERE (txid, position) > ($1::xid8, $2::bigint) AND txid <> ALL ($3::xid8[]) ${visible} ${upTo}
                            ORDER BY txid, position LIMIT $4)) AS next) AS measured
         ON late OR bytes_before < $5
      ORDER BY measured.txid, measured.position`,
    parameters,
  );
  assertOfThisServer(after, first.snapshot);
  const rows = first.late === null ? [] : [first, ...others];
  const onTime = rows.filter(({ late }) => !late);
  const bytes = rows.reduce((sum, { payload }) => sum + (payload === null ? 0 : Buffer.byteLength(payload)), 0);
  return {
    events: rows
      .filter(({ wanted }) => wanted)
      .sort((a, b) => a.position - b.position)
      .map(toEnvelope),
    end: endOf(after, onTime.at(-1), first.snapshot),
    hasMore: onTime.length === maxBatchEvents || bytes >= maxBatchBytes,
    bytes,
  };
}

const WANTED = '($6::text[] IS NULL OR type = ANY ($6))';
const COLUMNS = `txid, position, ${WANTED} AS wanted, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, CASE WHEN ${WANTED} THEN payload::text END AS payload`;

/** The first row. It contains no event if there is none to read. */
type SnapshotRow = { snapshot: string } & (LogRow | { late: null });

/**
 * A cursor that was read from this server is below each later snapshot. A cursor of another server would skip the events
 * of all transactions below it, and no error would show it.
 */
function assertOfThisServer({ txid }: LogCursor, snapshot: string): void {
  const nextTxid = snapshot.split(':')[1]!;
  if (BigInt(txid) >= BigInt(nextTxid))
    throw new Error(
      `The relay's cursor is at transaction ${txid}, but the next transaction of this server is ${nextTxid}: the database was restored. See docs/operations.md.`,
    );
}

/** @param snapshot of the read, as text: `xmin:xmax:xip_list` */
function endOf(after: LogCursor, last: LogPosition | undefined, snapshot: string): LogCursor {
  const { txid, position } = last ?? after;
  const inProgress = snapshot.split(':')[2]!.split(',');
  const openTxids = inProgress.filter((open) => open !== '' && BigInt(open) < BigInt(txid));
  return !last && openTxids.length === after.openTxids.length ? after : { txid, position, openTxids };
}

/**
 * Moves a cursor forward, never backwards: when two relays deliver the same batch, the slower relay changes nothing.
 * Position, open transactions and held types are one row, which is true whichever of two relays has written it.
 */
export async function moveCursor(db: DataSource, cursor: string, to: TargetCursor): Promise<void> {
  await db.query(MOVE_CURSOR, [cursor, to.txid, to.position, to.openTxids, JSON.stringify(to.held)]);
}

const MOVE_CURSOR = `INSERT INTO relay_cursors (target, txid, position, open_txids, held) VALUES ($1, $2::xid8, $3, $4::xid8[], $5)
     ON CONFLICT (target) DO UPDATE
        SET txid = excluded.txid, position = excluded.position, open_txids = excluded.open_txids, held = excluded.held
      WHERE (relay_cursors.txid, relay_cursors.position) <= (excluded.txid, excluded.position)`;

/** Whether consumers of the target have cursors of their own. Their names begin with the name of the target. */
export async function hasConsumerCursors(db: DataSource, target: string): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM relay_cursors WHERE starts_with(target, $1 || '/')) AS has`,
    [target],
  );
  return row!.has;
}

/** Moves the cursor of a target, and deletes the cursors of its consumers. */
export async function replaceConsumerCursors(db: DataSource, target: string, to: TargetCursor): Promise<void> {
  await db.query(`WITH gone AS (DELETE FROM relay_cursors WHERE starts_with(target, $1 || '/')) ${MOVE_CURSOR}`, [
    target,
    to.txid,
    to.position,
    to.openTxids,
    JSON.stringify(to.held),
  ]);
}

/** Whether the log has an event of this type. Slow if there is no such event, because the whole log is then read. */
export async function hasType(db: DataSource, type: string): Promise<boolean> {
  const [answer] = await db.query<{ has: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM event_log WHERE type = $1) AS has`,
    [type],
  );
  return answer!.has;
}

/** Whether the target still has to receive committed events. */
export async function hasEventsBeyond(db: DataSource, cursor: string, types?: ReadonlySet<string>): Promise<boolean> {
  const [answer] = await db.query<{ more: boolean }[]>(
    `SELECT EXISTS (${UNDELIVERED}) AS more`,
    await parametersOfUndelivered(db, cursor, types),
  );
  return answer!.more;
}

/** Counting ends at this number, so that a long log does not make the query slow. */
const MAX_COUNTED = 10_000;

/** Number of events that the target still has to receive, and the time of the oldest of these events. */
export async function findLag(
  db: DataSource,
  cursor: string,
  types?: ReadonlySet<string>,
): Promise<{ waiting: number; since: Date | null }> {
  const [lag] = await db.query<{ waiting: number; since: Date | null }[]>(
    `SELECT count(*) AS waiting, min(occurred_at) AS since FROM (${UNDELIVERED} LIMIT ${MAX_COUNTED}) AS undelivered`,
    await parametersOfUndelivered(db, cursor, types),
  );
  return lag!;
}

/** Cursor of the event's type: `$4` has the cursors of held types, and below `''` the cursor of all other types. */
const OWN_CURSOR = `coalesce($4::jsonb -> type, $4::jsonb -> '')`;
const IS_UNDELIVERED = `($5::text[] IS NULL OR type = ANY ($5))
  AND ((txid, position) > ((${OWN_CURSOR} ->> 'txid')::xid8, (${OWN_CURSOR} ->> 'position')::bigint)
       OR ${OWN_CURSOR} -> 'openTxids' ? txid::text)`;
/** `$1, $2` is the earliest position of the cursors, and `$3` contains their open transactions before it. */
const UNDELIVERED = `SELECT occurred_at FROM event_log WHERE txid = ANY ($3::xid8[]) AND ${IS_UNDELIVERED}
   UNION ALL
  SELECT occurred_at FROM event_log WHERE (txid, position) > ($1::xid8, $2::bigint) AND ${IS_UNDELIVERED}`;

async function parametersOfUndelivered(db: DataSource, name: string, types?: ReadonlySet<string>): Promise<unknown[]> {
  const { held, ...cursor } = await findCursor(db, name);
  const { txid, position, openTxids } = earliest([cursor, ...Object.values(held)]);
  return [txid, position, openTxids, JSON.stringify({ ...held, '': cursor }), types ? [...types] : null];
}

function toEnvelope(row: LogRow): EventEnvelope {
  return {
    id: row.id,
    type: row.type,
    aggregateId: row.aggregate_id,
    aggregateVersion: row.aggregate_version,
    occurredAt: row.occurred_at.toISOString(),
    payload: JSON.parse(row.payload!) as unknown,
    ...(row.traceparent ? { traceparent: row.traceparent } : {}),
  };
}
