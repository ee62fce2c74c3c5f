import { Inject, Injectable } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { AcquirerReport, StatementReport } from '../acquirers/acquirer-report.js';

/** A message of an acquirer that is to be stored. */
export interface NewReport {
  readonly report: AcquirerReport;
  /** 1 to 400 characters, equal for messages that the acquirer sends again. */
  readonly duplicateKey: string;
}

/** A report about payments. Settlement reports are read by a job of their own, because they are long. */
export type PaymentReport = Exclude<AcquirerReport, StatementReport>;

/** A stored message that is to be applied. */
export interface StoredReport<Report = PaymentReport> {
  readonly reportId: string;
  readonly report: Report;
  readonly receivedAt: Date;
  /** Number of times that a replica has begun to apply the message, this time included. */
  readonly applications: number;
}

/** `applied`: it changed a payment. `none`: it changed nothing, because the change had already happened. */
export interface ReportEffect {
  readonly effect: 'applied' | 'none' | 'incident' | 'ignored';
  /** Why the message had no effect, for operators. At most 500 characters. */
  readonly note?: string;
}

/** The messages that acquirers send by themselves. */
@Injectable()
export class ReportRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Stores the messages in one transaction. Omits repeated messages, and those that are stored already, unless they had
   * no effect: these are applied again, because the reason may be gone. Returns the number of messages to apply. The
   * messages are stored in the order of their keys, so that two callers with the same messages cannot deadlock.
   */
  async store(reports: readonly NewReport[]): Promise<number> {
    const now = this.clock.now();
    const items = reports.map(({ report, duplicateKey }) => ({ reportId: newUuid(this.clock), report, duplicateKey }));
    const rows = await this.dataSource.query<unknown[]>(
      `INSERT INTO acquirer_reports (report_id, acquirer, mode, duplicate_key, report, received_at, applications, next_apply_at)
       SELECT DISTINCT ON (2, 3, 4)
              item."reportId", item.report ->> 'acquirer', item.report ->> 'mode', item."duplicateKey", item.report, $2::timestamptz, 0, $2::timestamptz
         FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS ("reportId" uuid, report jsonb, "duplicateKey" text))
              WITH ORDINALITY AS item("reportId", report, "duplicateKey", position)
        ORDER BY 2, 3, 4, item.position
       ON CONFLICT (acquirer, mode, duplicate_key) DO UPDATE
          SET report = excluded.report, next_apply_at = excluded.next_apply_at, effect = NULL, note = NULL
        WHERE acquirer_reports.effect IN ('ignored', 'incident')
       RETURNING report_id`,
      [JSON.stringify(items), now],
    );
    return rows.length;
  }

  /**
   * Leases due messages about payments, each to one caller. Another caller can continue at `leaseUntil` if this caller
   * crashes.
   */
  leaseDue(leaseUntil: Date, limit: number): Promise<StoredReport[]> {
    return this.lease<PaymentReport>(leaseUntil, limit, 'payments');
  }

  /** Leases the next announced settlement report to one caller. */
  async leaseStatement(leaseUntil: Date): Promise<StoredReport<StatementReport> | undefined> {
    const [statement] = await this.lease<StatementReport>(leaseUntil, 1, 'statements');
    return statement;
  }

  private async lease<Report>(
    leaseUntil: Date,
    limit: number,
    kinds: 'payments' | 'statements',
  ): Promise<StoredReport<Report>[]> {
    const [rows] = await this.dataSource.query<[StoredReport<Report>[], number]>(
      `UPDATE acquirer_reports r SET applications = r.applications + 1, next_apply_at = $2
         FROM (SELECT report_id FROM acquirer_reports
                WHERE next_apply_at <= $1 AND (report ->> 'kind' = 'statement') = ($4 = 'statements')
                ORDER BY next_apply_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
        WHERE r.report_id = due.report_id
        RETURNING r.report_id AS "reportId", r.report, r.received_at AS "receivedAt", r.applications`,
      [this.clock.now(), leaseUntil, limit, kinds],
    );
    return rows;
  }

  /**
   * Deletes messages about payments that were applied and received before this time, oldest first. Returns their number.
   * Announcements of settlement reports stay with their lines.
   */
  async deleteApplied(receivedBefore: Date, limit: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `DELETE FROM acquirer_reports
        WHERE report_id IN (SELECT report_id FROM acquirer_reports
                             WHERE next_apply_at IS NULL AND report ->> 'kind' <> 'statement' AND received_at < $1
                             ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [receivedBefore, limit],
    );
    return count;
  }

  /** Records the effect. The message is not applied again. */
  async finish(reportId: string, { effect, note }: ReportEffect): Promise<void> {
    await this.dataSource.query(
      `UPDATE acquirer_reports SET effect = $2, note = left($3, 500), next_apply_at = NULL
        WHERE report_id = $1 AND next_apply_at IS NOT NULL`,
      [reportId, effect, note ?? null],
    );
  }

  /** @param note why the message could not be applied; without it, the earlier note stays */
  async postpone(reportId: string, until: Date, note?: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE acquirer_reports SET next_apply_at = $2, note = coalesce(left($3, 500), note)
        WHERE report_id = $1 AND next_apply_at IS NOT NULL`,
      [reportId, until, note ?? null],
    );
  }
}
