import { Inject, Injectable } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { loggableMessage } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { DayReport } from './day-report.js';

/** A reconciliation that an administrator or the nightly job has requested. */
export interface RunRequest {
  /** UTC, `2026-11-22`. */
  readonly day: string;
  /** Undefined: all merchants. */
  readonly merchantId: number | undefined;
}

export interface LeasedRun extends RunRequest {
  readonly runId: string;
  readonly isNightly: boolean;
  /** Number of leases of this run. Greater than 1 when an earlier replica ended without a result. */
  readonly starts: number;
}

type RunState = 'waiting' | 'running' | 'done' | 'failed';

/** A run as the administration API shows it. */
export interface RunView {
  readonly runId: string;
  readonly day: string;
  readonly merchantId: number | null;
  readonly state: RunState;
  /**
   * ISO 8601 UTC. Rows that became final later were not compared.
   * @schema date-time
   */
  readonly watermark: string | null;
  /** Null unless the state is `done`. */
  readonly result: DayReport | null;
  /** Null unless the state is `failed`. */
  readonly failure: string | null;
}

/** A run in the list of all runs. */
export interface RunSummary extends Pick<RunView, 'runId' | 'day' | 'merchantId' | 'state'> {
  /** ISO 8601 UTC. */
  readonly requestedUTCDate: string;
  /** Null unless the state is `done`. */
  readonly differences: number | null;
  /** Payments, charges and refunds of the day without an outcome yet. Null unless the state is `done`. */
  readonly open: number | null;
}

/** A replica that has not renewed its lease for this time counts as crashed. */
const LEASE_MS = 60_000;
/** A replica renews its lease after this time, well before the lease expires. */
export const RENEW_AFTER_MS = LEASE_MS / 4;
/** A nightly run that fails, or any run whose replica crashes, is started at most this often. */
export const MAX_STARTS = 3;
/** A day that must be compared again is compared in each of this number of nights. */
const MAX_NIGHTS = 31;

const NEWEST_RUNS = `
  SELECT DISTINCT ON (day) day, differences, open, is_whole_day FROM reconciliations
   WHERE merchant_id IS NULL AND day < $2::date AND day >= $2::date - ${MAX_NIGHTS} AND state IN ('done', 'failed')
   ORDER BY day, requested_at DESC`;
/** The result of a failed run is NULL. */
const INCONCLUSIVE_DAYS = `
  SELECT day FROM (${NEWEST_RUNS}) AS newest WHERE differences IS NULL OR differences > 0 OR open > 0 OR NOT is_whole_day`;
const LAST_DAY_OF_NIGHTLY_RUN = `SELECT max(known.day) FROM reconciliations known WHERE known.night IS NOT NULL`;
/** No day is missed before the first nightly run: generate_series from NULL returns no row. */
const MISSED_DAYS = `
  SELECT day::date FROM generate_series(((${LAST_DAY_OF_NIGHTLY_RUN}) + 1)::timestamp, $2::timestamp, '1 day') AS day
   WHERE day >= $2::date - ${MAX_NIGHTS}`;
/** Parameters: $1 night, $2 yesterday, $3 time of the request. The newest day is inserted, and therefore run, first. */
const REQUEST_NIGHT = `
  INSERT INTO reconciliations (run_id, day, night, state, requested_at)
  SELECT gen_random_uuid(), day, $1, 'waiting', $3
    FROM (SELECT $2::date AS day UNION ${INCONCLUSIVE_DAYS} UNION ${MISSED_DAYS}) AS days
   ORDER BY day DESC
  ON CONFLICT (night, day) DO NOTHING`;

/** Runs of the reconciliation. One replica at a time leases a run, and renews its lease. */
@Injectable()
export class ReconciliationRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async request(tx: EntityManager, { day, merchantId }: RunRequest): Promise<string> {
    const runId = newUuid(this.clock);
    await tx.query(
      `INSERT INTO reconciliations (run_id, day, merchant_id, state, requested_at) VALUES ($1, $2, $3, 'waiting', $4)`,
      [runId, day, merchantId ?? null, this.clock.now()],
    );
    return runId;
  }

  /**
   * Requests the runs of a night, only once even if several replicas call this method. A run is requested for each of
   * three kinds of days:
   *
   * - `yesterday`, the day before the night
   * - a missed day: no replica ran in the night after it, so the days since the last day of a nightly run are requested
   * - an inconclusive day: its newest run for all merchants failed, or found differences or rows without an outcome, or
   *   ended before the day was over
   */
  async requestNight(night: string, yesterday: string): Promise<void> {
    await this.dataSource.query(REQUEST_NIGHT, [night, yesterday, this.clock.now()]);
  }

  /** Leases the next waiting run, or a run whose replica has crashed, to one caller. */
  async lease(): Promise<LeasedRun | undefined> {
    const now = this.clock.now();
    const [[row]] = await this.dataSource.query<
      [(Omit<LeasedRun, 'merchantId'> & { merchantId: number | null })[], number]
    >(
      `UPDATE reconciliations SET state = 'running', starts = starts + 1, leased_until = $2
        WHERE run_id = (SELECT run_id FROM reconciliations
                         WHERE state IN ('waiting', 'running') AND (leased_until IS NULL OR leased_until <= $1)
                         ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING run_id AS "runId", day::text, merchant_id AS "merchantId", night IS NOT NULL AS "isNightly", starts`,
      [now, this.clock.later(LEASE_MS)],
    );
    if (!row) return undefined;
    const run = { ...row, merchantId: row.merchantId ?? undefined };
    if (run.starts <= MAX_STARTS) return run;
    await this.fail(run, new Error('Every replica that ran this reconciliation has crashed.'));
    return this.lease();
  }

  /** Throws when another replica has taken over the run. */
  async renew({ runId, starts }: LeasedRun): Promise<void> {
    const [, renewed] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE reconciliations SET leased_until = $3 WHERE run_id = $1 AND state = 'running' AND starts = $2`,
      [runId, starts, this.clock.later(LEASE_MS)],
    );
    if (renewed !== 1) throw new Error('Another replica has taken over this reconciliation.');
  }

  async finish({ runId, starts }: LeasedRun, watermark: Date, result: DayReport): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliations SET state = 'done', leased_until = NULL, ended_at = $3, watermark = $4, result = $5,
              differences = $6, open = $7, is_whole_day = $8
        WHERE run_id = $1 AND state = 'running' AND starts = $2`,
      [
        ...[runId, starts, this.clock.now(), watermark, JSON.stringify(result)],
        ...[result.differences, result.open, result.isWholeDay],
      ],
    );
  }

  async fail({ runId, starts }: LeasedRun, error: Error): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliations SET state = 'failed', leased_until = NULL, ended_at = $3, failure = left($4, 500)
        WHERE run_id = $1 AND state = 'running' AND starts = $2`,
      [runId, starts, this.clock.now(), loggableMessage(error)],
    );
  }

  async find(runId: string): Promise<RunView | undefined> {
    const [row] = await this.dataSource.query<(Omit<RunView, 'watermark'> & { watermark: Date | null })[]>(
      `SELECT run_id AS "runId", day::text, merchant_id AS "merchantId", state, watermark, result, failure
         FROM reconciliations WHERE run_id = $1`,
      [runId],
    );
    return row && { ...row, watermark: row.watermark?.toISOString() ?? null };
  }

  /** The newest 100 runs: the newest day first, and of a day the newest request. */
  async listNewest(): Promise<RunSummary[]> {
    const rows = await this.dataSource.query<(Omit<RunSummary, 'requestedUTCDate'> & { requestedAt: Date })[]>(
      `SELECT run_id AS "runId", day::text, merchant_id AS "merchantId", state, differences, open, requested_at AS "requestedAt"
         FROM reconciliations r ORDER BY r.day DESC, r.requested_at DESC LIMIT 100`,
    );
    return rows.map(({ requestedAt, ...row }) => ({ ...row, requestedUTCDate: requestedAt.toISOString() }));
  }

  /**
   * Values for the metrics: of each day that the last night compared, the result of its newest run for all merchants, so
   * that a repeated run of an administrator counts; and the end of the last successful run of a whole day.
   */
  async readLastNight(): Promise<{
    readonly differences: number;
    readonly failed: number;
    readonly endedAt: Date | null;
  }> {
    const [row] = await this.dataSource.query<[{ differences: number; failed: number; endedAt: Date | null }]>(
      `SELECT coalesce(sum(newest.differences), 0)::bigint AS differences, count(*) FILTER (WHERE newest.state = 'failed')::int AS failed,
              (SELECT max(ended_at) FROM reconciliations WHERE merchant_id IS NULL AND is_whole_day AND state = 'done') AS "endedAt"
         FROM reconciliations nightly
         JOIN LATERAL (
           SELECT state, differences FROM reconciliations repeated
            WHERE repeated.day = nightly.day AND repeated.requested_at >= nightly.requested_at AND repeated.merchant_id IS NULL
              AND repeated.state IN ('done', 'failed')
            ORDER BY repeated.requested_at DESC LIMIT 1) newest ON true
        WHERE nightly.night = (SELECT max(night) FROM reconciliations)`,
    );
    return row;
  }
}
