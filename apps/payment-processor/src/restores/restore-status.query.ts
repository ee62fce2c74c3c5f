import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** State of the newest restore of payment-processor's database. */
export interface RestoreStatus {
  readonly restoreId: string;
  /** `replaying`: events of other services are missing. `closed`: waits for the comparison with the bank. */
  readonly state: 'replaying' | 'closed' | 'open';
  /**
   * The database contains what was committed before this time. ISO 8601 UTC.
   * @schema date-time
   */
  readonly restoredToUTCDate: string;
  /**
   * End of the newest comparison with the bank. ISO 8601 UTC.
   * @schema date-time
   */
  readonly repairedUTCDate: string | null;
  /** Movements that the newest comparison could neither record nor reverse. */
  readonly unresolved: number | null;
  /** Forgotten charges whose reversal the acquirer has not confirmed. */
  readonly reversalsOpen: number;
  /** Attempts and refunds without an outcome. Counted up to 1 000. */
  readonly outcomesMissing: number;
  /** Days that no reconciliation of all merchants after the comparison has found to agree. */
  readonly daysToReconcile: readonly string[];
}

interface StatusRow extends Omit<RestoreStatus, 'state' | 'restoredToUTCDate' | 'repairedUTCDate' | 'daysToReconcile'> {
  readonly restoredTo: Date;
  readonly repairedAt: Date | null;
  readonly replayedAt: Date | null;
  readonly closedAt: Date | null;
  readonly agreeingDays: string[];
}

const MAX_COUNTED = 1_000;

@Injectable()
export class RestoreStatusQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Undefined when the database was never restored. */
  async find(
    listDays: (restoredTo: Date) => readonly string[],
    db: EntityManager | DataSource = this.dataSource,
  ): Promise<RestoreStatus | undefined> {
    const [row] = await db.query<StatusRow[]>(STATUS);
    if (!row) return undefined;
    const { restoredTo, repairedAt, replayedAt, closedAt, agreeingDays, ...counts } = row;
    return {
      ...counts,
      state: closedAt ? 'open' : replayedAt ? 'closed' : 'replaying',
      restoredToUTCDate: restoredTo.toISOString(),
      repairedUTCDate: repairedAt?.toISOString() ?? null,
      daysToReconcile: closedAt ? [] : listDays(restoredTo).filter((day) => !agreeingDays.includes(day)),
    };
  }
}

/**
 * A day agrees if the newest run of all merchants has found no difference, and has compared everything that was repaired.
 * The attempts of recorded payments, and of payments that were unfinished at the restored time, have started after the
 * restore was marked.
 */
const STATUS = `
  SELECT r.restore_id AS "restoreId", r.restored_to AS "restoredTo", r.replayed_at AS "replayedAt", r.closed_at AS "closedAt",
         repair.repaired_at AS "repairedAt", repair.unresolved,
         (SELECT count(*)::int FROM (SELECT FROM forgotten_charges WHERE next_request_at IS NOT NULL LIMIT ${MAX_COUNTED}) AS open) AS "reversalsOpen",
         (SELECT count(*)::int FROM (SELECT FROM attempts WHERE next_query_at IS NOT NULL
                                      UNION ALL SELECT FROM refunds WHERE next_query_at IS NOT NULL LIMIT ${MAX_COUNTED}) AS open) AS "outcomesMissing",
         ARRAY(SELECT newest.day::text
                 FROM (SELECT DISTINCT ON (day) day, differences, watermark FROM reconciliations
                        WHERE merchant_id IS NULL AND state IN ('done', 'failed') AND day >= (r.restored_to AT TIME ZONE 'UTC')::date - 1
                        ORDER BY day, requested_at DESC) AS newest
                WHERE newest.differences = 0
                  AND newest.watermark > greatest(repair.repaired_at, (SELECT max(reversed_at) FROM forgotten_charges),
                                                   (SELECT max(ended_at) FROM attempts WHERE started_at >= r.marked_at),
                                                   (SELECT max(ended_at) FROM refunds WHERE ended_at >= r.marked_at))) AS "agreeingDays"
    FROM restores r LEFT JOIN restore_repairs repair ON repair.restore_id = r.restore_id
   ORDER BY r.closed_at IS NULL DESC, r.marked_at DESC LIMIT 1`;
