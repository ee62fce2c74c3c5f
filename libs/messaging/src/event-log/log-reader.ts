import type { EventEnvelope } from '@svc/contracts';
import type { DataSource } from 'typeorm';

/**
 * A position in the log. Positions are ordered by `txid`, then by `position`. A cursor is the last position that a
 * target has received.
 */
export interface LogPosition {
  readonly txid: string;
  readonly position: number;
}

/** Event types that a target refuses, with the position up to which the target has received their events. */
export type HeldTypes = Readonly<Record<string, LogPosition>>;

/** Everything up to this position was delivered, except the events of held types. */
export interface Cursor extends LogPosition {
  readonly held: HeldTypes;
}

/** Selects the events to read. */
export interface LogScope {
  readonly after: LogPosition;
  /** Only events of these types. Events of other types are skipped. */
  readonly types?: ReadonlySet<string> | undefined;
  /** Skips the events of these types. */
  readonly exceptTypes?: ReadonlySet<string>;
  /** Only events of transactions before this transaction (xid8). */
  readonly until?: string;
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
  txid: string;
  position: number;
  readable: boolean;
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
  readonly events: EventEnvelope[];
  /** Position of the cursor once the batch is delivered. */
  readonly end: LogPosition;
  /** True if a limit ended the batch: more events can be read immediately. */
  readonly hasMore: boolean;
  /** True if further events are committed but cannot be read yet, because an older transaction is open. */
  readonly isBlocked: boolean;
}

const BEGINNING: Cursor = { txid: '0', position: 0, held: {} };

/** Position of a cursor. A new cursor begins at the position of the cursor `origin`, or at the beginning of the log. */
export async function findCursor(db: DataSource, cursor: string, origin = cursor): Promise<Cursor> {
  const [row] = await db.query<Cursor[]>(
    `SELECT txid::text AS txid, position, held FROM relay_cursors WHERE target IN ($1, $2) ORDER BY target = $1 DESC LIMIT 1`,
    [cursor, origin],
  );
  return row ?? BEGINNING;
}

/**
 * The next events after a position, in the order (txid, position). Reads only events of transactions that are older
 * than the oldest open transaction (pg_snapshot_xmin, the horizon).
 */
export async function readLog(db: DataSource, scope: LogScope, bounds: LogBounds): Promise<LogBatch> {
  const { after } = scope;
  const types = scope.types ? [...scope.types] : null;
  const exceptTypes = [...(scope.exceptTypes ?? [])];
  const { maxBatchEvents, maxBatchBytes } = bounds;
  const parameters: unknown[] = [after.txid, after.position, maxBatchEvents, maxBatchBytes, types, exceptTypes];
  const until = scope.until === undefined ? '' : `AND txid < $${parameters.push(scope.until)}::xid8`;
  const upTo = scope.upTo
    ? `AND (txid, position) <= ($${parameters.push(scope.upTo.txid)}::xid8, $${parameters.push(scope.upTo.position)}::bigint)`
    : '';
  const rows = await db.query<LogRow[]>(
    `SELECT txid::text AS txid, position, readable, wanted, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload
       FROM (SELECT *, sum(coalesce(octet_length(payload), 0)) OVER (ORDER BY txid, position) - coalesce(octet_length(payload), 0) AS bytes_before
               FROM (SELECT txid, position, txid < pg_snapshot_xmin(pg_current_snapshot()) AS readable,
                            ${WANTED} AS wanted, id, type, aggregate_id, aggregate_version, occurred_at, traceparent,
                            CASE WHEN ${WANTED} THEN payload::text END AS payload
                       FROM event_log
                      WHERE (txid, position) > ($1::xid8, $2::bigint) ${until} ${upTo}
                      ORDER BY txid, position LIMIT $3) AS next) AS measured
      WHERE bytes_before < $4 ORDER BY measured.txid, position`,
    parameters,
  );
  // The rows are sorted by transaction, so the readable rows come first.
  const readable = rows.filter((row) => row.readable);
  const last = readable.at(-1);
  const hasMore = readable.length === bounds.maxBatchEvents || bytesOf(readable) >= bounds.maxBatchBytes;
  return {
    events: readable.filter((row) => row.wanted).map(toEnvelope),
    end: last ? { txid: last.txid, position: last.position } : after,
    hasMore,
    isBlocked: !hasMore && rows.some((row) => !row.readable && row.wanted),
  };
}

const WANTED = '(($5::text[] IS NULL OR type = ANY ($5)) AND type <> ALL ($6::text[]))';

function bytesOf(rows: readonly LogRow[]): number {
  return rows.reduce((sum, { payload }) => sum + (payload === null ? 0 : Buffer.byteLength(payload)), 0);
}

/**
 * Moves a cursor forward, never backwards: when two relays deliver the same batch, the slower relay changes nothing.
 * Position and held types are one row, which is true whichever of two relays has written it.
 */
export async function moveCursor(
  db: DataSource,
  cursor: string,
  { txid, position }: LogPosition,
  held: HeldTypes = {},
): Promise<void> {
  await db.query(
    `INSERT INTO relay_cursors (target, txid, position, held) VALUES ($1, $2::xid8, $3, $4)
     ON CONFLICT (target) DO UPDATE SET txid = excluded.txid, position = excluded.position, held = excluded.held
     WHERE (relay_cursors.txid, relay_cursors.position) <= (excluded.txid, excluded.position)`,
    [cursor, txid, position, JSON.stringify(held)],
  );
}

/** Whether the log has an event of this type. Slow if there is no such event, because the whole log is then read. */
export async function hasType(db: DataSource, type: string): Promise<boolean> {
  const [answer] = await db.query<{ has: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM event_log WHERE type = $1) AS has`,
    [type],
  );
  return answer!.has;
}

/** Whether the target still has to receive committed events, including events that cannot be read yet. */
export async function hasEventsBeyond(db: DataSource, cursor: string, types?: ReadonlySet<string>): Promise<boolean> {
  const [answer] = await db.query<{ more: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM event_log WHERE ${NOT_DELIVERED}) AS more`,
    await undelivered(db, cursor, types),
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
    `SELECT count(*) AS waiting, min(occurred_at) AS since
       FROM (SELECT occurred_at FROM event_log WHERE ${NOT_DELIVERED} LIMIT ${MAX_COUNTED}) AS beyond`,
    await undelivered(db, cursor, types),
  );
  return lag!;
}

/** The events after the position `$1, $2` that are beyond the cursor `$3, $4`, or of a held type (`$5`) beyond its own. */
const NOT_DELIVERED = `(txid, position) > ($1::xid8, $2::bigint) AND ($6::text[] IS NULL OR type = ANY ($6))
  AND ((txid, position) > ($3::xid8, $4::bigint)
       OR (txid, position) > (($5::jsonb -> type ->> 'txid')::xid8, ($5::jsonb -> type ->> 'position')::bigint))`;

/** The parameters of {@link NOT_DELIVERED}. */
async function undelivered(db: DataSource, name: string, types?: ReadonlySet<string>): Promise<unknown[]> {
  const cursor = await findCursor(db, name);
  const first = [cursor, ...Object.values(cursor.held)].reduce((a, b) => (isBefore(b, a) ? b : a));
  const { txid, position, held } = cursor;
  return [first.txid, first.position, txid, position, JSON.stringify(held), types ? [...types] : null];
}

function isBefore(a: LogPosition, b: LogPosition): boolean {
  return a.txid === b.txid ? a.position < b.position : BigInt(a.txid) < BigInt(b.txid);
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
