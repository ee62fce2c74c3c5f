import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { namedStatement } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { GENESIS_HASH, transferHash } from './transfer-hash.js';

/** A newly appended seal. */
interface NewSeal {
  readonly sealNumber: number;
  readonly transferCount: number;
  /** Creation time of the oldest transfer in the seal. */
  readonly oldest: Date;
}

/** A day whose transfers are all sealed. */
export interface ClosedDay {
  /** `2026-03-01`, UTC. */
  readonly day: string;
  /** Number of the newest seal when the day was closed; 0 before the first seal. */
  readonly sealNumber: number;
  /** Hash of that seal, in hex. */
  readonly root: string;
  /** ISO 8601 UTC. */
  readonly closedUTCDate: string;
}

/** A seal, as a statement cites it. */
export interface SealView {
  readonly sealNumber: number;
  /** Hex SHA-256. */
  readonly hash: string;
  /** ISO 8601 UTC. */
  readonly sealedUTCDate: string;
}

/** A day with the range of the seals that contain its transfers: the seals after `afterSeal`, up to `sealNumber`. */
export interface DayRange extends ClosedDay {
  readonly afterSeal: number;
}

/** Appends seals and closings, which {@link VerifyLedger} checks. */
@Injectable()
export class SealRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Seals the next transfers, at most `transfersMax`, in one statement. Undefined when there is no new transfer, or
   * while another replica seals. The advisory lock only avoids duplicate work. The unique number prevents two replicas
   * from appending the same seal.
   */
  async sealNext(transfersMax: number): Promise<NewSeal | undefined> {
    const values = SEAL.valuesOf({ transfersMax, now: this.clock.now() });
    const [row] = await this.dataSource.query<NewSeal[]>(SEAL.text, values);
    return row;
  }

  /**
   * Creation time of the oldest unsealed transfer, even if an older transaction still prevents the sealing of this
   * transfer. Only the next 10 000 transfers are read, because the order of creation differs from the order of
   * transactions by a few seconds at most.
   */
  async findOldestUnsealed(): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ oldest: Date | null }[]>(OLDEST_UNSEALED, [MAX_UNSEALED_READ]);
    return row?.oldest ?? undefined;
  }

  /**
   * True when the newest seal has a transaction id that this PostgreSQL server has not assigned yet. Then the database
   * was restored from another server. The server would give new transfers lower transaction ids than those of the seal,
   * so they would wrongly count as sealed.
   */
  async isSealedByAnotherServer(): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `SELECT FROM (SELECT last_txid FROM ledger_seals ORDER BY seal_number DESC LIMIT 1) AS last
        WHERE last_txid >= pg_snapshot_xmax(pg_current_snapshot())`,
    );
    return rows.length > 0;
  }

  /** The time up to which the ledger is closed. Undefined before the first closing. */
  async findLastClosing(): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ closedUntil: Date }[]>(
      `SELECT closed_until AS "closedUntil" FROM ledger_closings ORDER BY closed_until DESC LIMIT 1`,
    );
    return row?.closedUntil;
  }

  /**
   * Closes each quarter of an hour after the last closing, up to `until`, which must be such a time. The first closing
   * begins at the last midnight in UTC. Returns the days (UTC) that this has closed.
   */
  async closeUntil(until: Date): Promise<ClosedDay[]> {
    const values = CLOSE.valuesOf({ until, now: this.clock.now() });
    const rows = await this.dataSource.query<ClosedDayRow[]>(CLOSE.text, values);
    return rows.map(closedDayFromRow).toSorted((a, b) => (a.day < b.day ? -1 : 1));
  }

  /** Undefined if there is no seal with this number. */
  async findSeal(sealNumber: number): Promise<SealView | undefined> {
    const [row] = await this.dataSource.query<{ hash: string; sealedAt: Date }[]>(
      `SELECT encode(hash, 'hex') AS hash, sealed_at AS "sealedAt" FROM ledger_seals WHERE seal_number = $1`,
      [sealNumber],
    );
    return row && { sealNumber, hash: row.hash, sealedUTCDate: row.sealedAt.toISOString() };
  }

  /** The closed days, newest first. */
  async listDays(limit: number): Promise<ClosedDay[]> {
    const rows = await this.dataSource.query<ClosedDayRow[]>(
      `SELECT ${CLOSED_DAY_COLUMNS} FROM ledger_closings
        WHERE closed_until = date_trunc('day', closed_until, 'UTC') ORDER BY closed_until DESC LIMIT $1`,
      [limit],
    );
    return rows.map(closedDayFromRow);
  }

  /**
   * Undefined while the day is not closed. Transfers of this day are sealed only after the day has begun. Therefore the
   * range omits the seals of the last closing that was stored before this day began. A closing that was stored exactly
   * when this day began is included, because its seals can already contain a transfer of that instant.
   */
  async findDay(day: string): Promise<DayRange | undefined> {
    const [row] = await this.dataSource.query<(ClosedDayRow & { after: number | null })[]>(
      `SELECT ${CLOSED_DAY_COLUMNS},
              (SELECT e.seal_number FROM ledger_closings e
                WHERE e.closed_until <= d.closed_until - interval '24 hours' AND e.closed_at < d.closed_until - interval '24 hours'
                ORDER BY e.closed_until DESC LIMIT 1) AS after
         FROM ledger_closings d WHERE d.closed_until = ($1::date + 1)::timestamp AT TIME ZONE 'UTC'`,
      [day],
    );
    return row && { ...closedDayFromRow(row), afterSeal: row.after ?? 0 };
  }
}

/** Key of the advisory lock that {@link SealRepository.sealNext} takes. */
const SEAL_LOCK = 4_017_016;

/** This limit is passed as a parameter, because with a literal PostgreSQL would sort all rows of a small table. */
const MAX_UNSEALED_READ = 10_000;

const SEAL = namedStatement(`WITH seal_lock AS MATERIALIZED (
         SELECT pg_try_advisory_xact_lock(${SEAL_LOCK}) AS is_held
       ), last AS MATERIALIZED (
         SELECT known.* FROM seal_lock CROSS JOIN LATERAL (
                  (SELECT seal_number, hash, last_txid, last_position FROM ledger_seals ORDER BY seal_number DESC LIMIT 1)
                  UNION ALL SELECT 0, ${GENESIS_HASH}, '0'::xid8, 0
                  ORDER BY seal_number DESC LIMIT 1) AS known
          WHERE seal_lock.is_held
       ), next AS MATERIALIZED (
         SELECT last.seal_number + 1 AS seal_number, last.hash AS previous_hash, found.*
           FROM last CROSS JOIN LATERAL (
             SELECT t.txid, t.position, t.transfer_id, t.created_at, ${transferHash('t')} AS hash FROM transfers t
              WHERE (t.txid, t.position) > (last.last_txid, last.last_position) AND t.txid < pg_snapshot_xmin(pg_current_snapshot())
              ORDER BY t.txid, t.position LIMIT $transfersMax) AS found
       ), appended AS (
         INSERT INTO ledger_seals (seal_number, previous_hash, hash, last_txid, last_position, transfer_count, transfer_ids,
                                   transfer_hashes, sealed_at)
         SELECT seal_number, previous_hash, sha256(previous_hash || string_agg(hash, ''::bytea ORDER BY txid, position)),
                (array_agg(txid ORDER BY txid DESC, position DESC))[1], (array_agg(position ORDER BY txid DESC, position DESC))[1],
                count(*), array_agg(transfer_id ORDER BY txid, position), array_agg(hash ORDER BY txid, position), $now::timestamptz
           FROM next GROUP BY seal_number, previous_hash
         ON CONFLICT (seal_number) DO NOTHING
         RETURNING seal_number, transfer_count
       )
       SELECT appended.seal_number AS "sealNumber", appended.transfer_count AS "transferCount",
              (SELECT min(created_at) FROM next) AS oldest
         FROM appended`);

const OLDEST_UNSEALED = `SELECT min(t.created_at) AS oldest
         FROM (SELECT coalesce((SELECT last_txid FROM ledger_seals ORDER BY seal_number DESC LIMIT 1), '0'::xid8) AS txid,
                      coalesce((SELECT last_position FROM ledger_seals ORDER BY seal_number DESC LIMIT 1), 0) AS position) AS last
        CROSS JOIN LATERAL (SELECT u.created_at FROM transfers u WHERE (u.txid, u.position) > (last.txid, last.position)
                             ORDER BY u.txid, u.position LIMIT $1) AS t`;

const CLOSED_DAY_COLUMNS = `((closed_until AT TIME ZONE 'UTC')::date - 1)::text AS day, seal_number, encode(root, 'hex') AS root, closed_at`;

const CLOSE = namedStatement(`WITH closed AS (
         INSERT INTO ledger_closings (closed_until, seal_number, root, closed_at)
         SELECT quarter, last.seal_number, last.hash, $now::timestamptz
           FROM generate_series(coalesce((SELECT max(known.closed_until) + interval '15 minutes' FROM ledger_closings known),
                                         date_trunc('day', $until::timestamptz, 'UTC')),
                                $until::timestamptz, '15 minutes') AS quarter
          CROSS JOIN ((SELECT seal_number, hash FROM ledger_seals ORDER BY seal_number DESC LIMIT 1)
                      UNION ALL SELECT 0, ${GENESIS_HASH} ORDER BY seal_number DESC LIMIT 1) AS last
         ON CONFLICT (closed_until) DO NOTHING
         RETURNING closed_until, seal_number, root, closed_at
       )
       SELECT ${CLOSED_DAY_COLUMNS} FROM closed WHERE closed_until = date_trunc('day', closed_until, 'UTC')`);

interface ClosedDayRow {
  day: string;
  seal_number: number;
  root: string;
  closed_at: Date;
}

function closedDayFromRow({ day, seal_number: sealNumber, root, closed_at: closedAt }: ClosedDayRow): ClosedDay {
  return { day, sealNumber, root, closedUTCDate: closedAt.toISOString() };
}
