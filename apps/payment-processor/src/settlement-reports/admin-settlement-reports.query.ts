import { Inject, Injectable } from '@nestjs/common';
import type { Mode, TimeZonePeriod } from '@svc/contracts';
import { timeZoneAt, toLocalTime } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { SettlementLineKind } from '../acquirers/settlement-line.js';

/** A settlement report that an acquirer has announced. */
export interface SettlementReportView {
  readonly reportId: string;
  readonly acquirer: string;
  readonly mode: Mode;
  readonly accountReference: string;
  /** The acquirer's name of the report. */
  readonly name: string;
  /** ISO 8601 UTC: when the acquirer announced it. */
  readonly receivedUTCDate: string;
  /** `waiting`: not read yet. `incident`: it could not be read, or is not as expected. */
  readonly state: 'waiting' | 'read' | 'incident';
  /** Number of attempts to read it. */
  readonly attempts: number;
  /** Number of its lines that no movement of this service matches. */
  readonly unmatchedLines: number;
  /** Number of its lines and its problems, or the reason why it could not be read. */
  readonly note: string | null;
}

/** A line of a settlement report that no movement of this service matches. */
export interface UnmatchedLineView {
  readonly reportId: string;
  readonly acquirer: string;
  readonly mode: Mode;
  readonly accountReference: string;
  readonly batch: number;
  readonly lineNumber: number;
  readonly merchantId: number;
  readonly type: string;
  readonly kind: SettlementLineKind;
  readonly svcId: string | null;
  readonly acquirerReference: string | null;
  readonly currencyISOCode: string | null;
  /** Cents. Positive if the acquirer owes more to the platform. */
  readonly grossAmount: number | null;
  /** Cents. */
  readonly netAmount: number | null;
  readonly problem: string | null;
  /** ISO 8601 UTC. */
  readonly storedUTCDate: string;
  /** The same time on a clock of the merchant, with its time zone: `2026-11-20 20:03:36 Africa/Johannesburg` (M7). */
  readonly storedLocalTime: string;
}

type UnmatchedLineRow = Omit<UnmatchedLineView, 'storedUTCDate' | 'storedLocalTime'> & {
  readonly storedAt: Date;
  /** Null until identity's event has arrived. */
  readonly timeZones: TimeZonePeriod[] | null;
};

/** Values for metrics, of an acquirer and mode with an account or a report. */
export interface SettlementReportCounts {
  readonly acquirer: string;
  readonly mode: Mode;
  /** When the oldest report was announced that is not read yet. */
  readonly oldestWaiting: Date | null;
  /** Time of the oldest capture after which its account has announced no report. */
  readonly oldestUnreported: Date | null;
}

const MAX_LISTED = 100;
/** Metrics cover this time: an operator has seen an older line or capture, and it must not keep an alarm on for ever. */
const METRICS_MS = 31 * 86_400_000;

/** Lists settlement reports and their unmatched lines for `./svc admin settlement-reports`, and counts them for metrics. */
@Injectable()
export class AdminSettlementReportsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The newest 100 reports. */
  async list(): Promise<SettlementReportView[]> {
    const rows = await this.dataSource.query<(Omit<SettlementReportView, 'receivedUTCDate'> & { receivedAt: Date })[]>(
      `SELECT r.report_id AS "reportId", r.acquirer, r.mode, r.report ->> 'accountReference' AS "accountReference",
              r.report ->> 'acquirerReference' AS name, r.received_at AS "receivedAt",
              CASE WHEN r.effect IS NULL THEN 'waiting' WHEN r.effect = 'incident' THEN 'incident' ELSE 'read' END AS state,
              r.applications AS attempts, r.note,
              (SELECT count(*)::int FROM settlement_lines l WHERE l.report_id = r.report_id AND NOT l.is_matched) AS "unmatchedLines"
         FROM acquirer_reports r WHERE r.report ->> 'kind' = 'statement' ORDER BY r.received_at DESC LIMIT $1`,
      [MAX_LISTED],
    );
    return rows.map(({ receivedAt, ...row }) => ({ ...row, receivedUTCDate: receivedAt.toISOString() }));
  }

  /** The newest 100 unmatched lines, of all reports or of one. */
  async listUnmatched(reportId: string | undefined): Promise<UnmatchedLineView[]> {
    const rows = await this.dataSource.query<UnmatchedLineRow[]>(
      `SELECT report_id AS "reportId", acquirer, mode, account AS "accountReference", batch, line_number AS "lineNumber",
              merchant_id AS "merchantId", type, kind, payment_reference AS "svcId", acquirer_reference AS "acquirerReference",
              currency AS "currencyISOCode", gross_amount AS "grossAmount", net_amount AS "netAmount", problem, stored_at AS "storedAt",
              (SELECT time_zones FROM known_merchants m WHERE m.merchant_id = settlement_lines.merchant_id) AS "timeZones"
         FROM settlement_lines WHERE NOT is_matched AND ($2::uuid IS NULL OR report_id = $2::uuid)
        ORDER BY stored_at DESC, line_number LIMIT $1`,
      [MAX_LISTED, reportId ?? null],
    );
    return rows.map(({ storedAt, timeZones, ...row }) => {
      const zone = timeZoneAt(timeZones ?? [], storedAt);
      const { date, time } = toLocalTime(zone, storedAt);
      return { ...row, storedUTCDate: storedAt.toISOString(), storedLocalTime: `${date} ${time} ${zone}` };
    });
  }

  /**
   * One row for each acquirer and mode in which a merchant has an account, or which has announced a report. The reports
   * of an account are late from its first capture on, also if none was ever announced. A report of a company account
   * covers each account of which it has lines.
   *
   * @param acquirers names of the acquirers with settlement reports
   */
  countReports(acquirers: readonly string[], now: Date): Promise<SettlementReportCounts[]> {
    return this.dataSource.query<SettlementReportCounts[]>(
      `WITH reports AS (
         SELECT acquirer, mode, report ->> 'accountReference' AS account, max(received_at) AS newest,
                min(received_at) FILTER (WHERE effect IS NULL) AS waiting
           FROM acquirer_reports WHERE report ->> 'kind' = 'statement' GROUP BY 1, 2, 3),
       accounts AS (
         SELECT DISTINCT ON (merchant_id, mode) merchant_id, mode, acquirer, account, set_at
           FROM merchant_accounts ORDER BY merchant_id, mode, version DESC)
       SELECT acquirer, mode, min(waiting) AS "oldestWaiting", min(unreported) AS "oldestUnreported" FROM (
         SELECT acquirer, mode, waiting, NULL::timestamptz AS unreported FROM reports
         UNION ALL
         SELECT a.acquirer, a.mode, NULL, capture.created_at
           FROM accounts a LEFT JOIN reports r ON r.acquirer = a.acquirer AND r.mode = a.mode AND r.account = a.account
           LEFT JOIN LATERAL (
             SELECT l.stored_at FROM settlement_lines l WHERE l.acquirer = a.acquirer AND l.mode = a.mode AND l.account = a.account
              ORDER BY l.batch DESC, l.line_number DESC LIMIT 1) AS line ON true
           LEFT JOIN LATERAL (
             SELECT t.created_at FROM transfers t
              WHERE t.merchant_id = a.merchant_id AND t.mode = a.mode AND t.created_at > greatest(r.newest, line.stored_at, a.set_at, $2::timestamptz)
                AND t.kind = 'capture' AND t.debit_account = a.mode || ':acquirer:' || a.acquirer || ':receivable'
              ORDER BY t.created_at LIMIT 1) AS capture ON true
          WHERE a.acquirer = ANY ($1::text[])) AS counted
        GROUP BY acquirer, mode`,
      [acquirers, new Date(now.getTime() - METRICS_MS)],
    );
  }

  /** The number of unmatched lines that were stored in the last 31 days. */
  countUnmatched(now: Date): Promise<{ acquirer: string; mode: Mode; count: number }[]> {
    return this.dataSource.query(
      `SELECT acquirer, mode, count(*)::int AS count FROM settlement_lines WHERE NOT is_matched AND stored_at > $1 GROUP BY acquirer, mode`,
      [new Date(now.getTime() - METRICS_MS)],
    );
  }
}
