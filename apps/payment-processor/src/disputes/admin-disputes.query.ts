import { Inject, Injectable } from '@nestjs/common';
import type { DisputeResponse, DisputeStage, Mode } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** A dispute as the administration API shows it. */
export interface AdminDisputeView extends Omit<DisputeResponse, 'respondByUTCDate'> {
  /** ISO 8601 UTC; null when no response is possible or necessary. */
  readonly respondByUTCDate: string | null;
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly currencyISOCode: string;
  readonly acquirer: string;
  /** The acquirer's reference of the dispute. */
  readonly acquirerReference: string;
  /** ISO 8601 UTC. */
  readonly modifiedUTCDate: string;
  /** Number of impossible reports of the acquirer. */
  readonly incidents: number;
}

/** An impossible report of an acquirer about a dispute. */
export interface DisputeIncidentView {
  readonly acquirer: string;
  readonly mode: Mode;
  readonly disputeReference: string;
  readonly reportReference: string;
  /** The reason why the report is impossible, for example `unknownCharge`. */
  readonly problem: string;
  /** The report as JSON, at most 2 000 characters. */
  readonly report: string;
  /** How often the report arrived. */
  readonly occurrences: number;
  /** ISO 8601 UTC. */
  readonly firstSeenUTCDate: string;
  /** ISO 8601 UTC. */
  readonly lastSeenUTCDate: string;
}

/** The number of open disputes of a stage and mode, and their nearest deadline. */
export interface OpenDisputes {
  readonly mode: Mode;
  readonly stage: DisputeStage;
  readonly count: number;
  /** The nearest deadline that is not over. */
  readonly nearestDeadline: Date | null;
}

const MAX_LISTED = 100;

/** Lists disputes of all merchants for `./svc admin disputes`, and counts them for metrics. */
@Injectable()
export class AdminDisputesQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Lists at most 100 open disputes with the nearest deadline first, and then the newest others up to 100 in all. */
  async list(): Promise<AdminDisputeView[]> {
    const open = await this.select(`d.stage NOT IN ('won', 'lost') ORDER BY d.respond_by, d.dispute_id LIMIT $1`, [
      MAX_LISTED,
    ]);
    if (open.length === MAX_LISTED) return open;
    const closed = `d.stage IN ('won', 'lost') ORDER BY d.dispute_id DESC LIMIT $1`;
    return [...open, ...(await this.select(closed, [MAX_LISTED - open.length]))];
  }

  /** Lists at most 100 disputes of a payment, newest first. */
  listOfPayment(paymentReference: string): Promise<AdminDisputeView[]> {
    // In the order of dispute_id the statement could read all disputes.
    const condition = `p.payment_reference = $2 ORDER BY d.created_at DESC, d.dispute_id DESC LIMIT $1`;
    return this.select(condition, [MAX_LISTED, paymentReference]);
  }

  /** Lists the newest 100 impossible reports. */
  async listIncidents(): Promise<DisputeIncidentView[]> {
    const rows = await this.dataSource.query<IncidentRow[]>(
      `SELECT acquirer, mode, dispute_reference AS "disputeReference", report_reference AS "reportReference", problem, report, occurrences,
              first_seen_at, last_seen_at
         FROM dispute_incidents ORDER BY last_seen_at DESC LIMIT $1`,
      [MAX_LISTED],
    );
    return rows.map(({ first_seen_at: firstSeenAt, last_seen_at: lastSeenAt, ...row }) => ({
      ...row,
      firstSeenUTCDate: firstSeenAt.toISOString(),
      lastSeenUTCDate: lastSeenAt.toISOString(),
    }));
  }

  countOpen(now: Date): Promise<OpenDisputes[]> {
    return this.dataSource.query<OpenDisputes[]>(
      `SELECT mode, stage, count(*)::int AS count, min(respond_by) FILTER (WHERE respond_by > $1) AS "nearestDeadline"
         FROM disputes WHERE stage NOT IN ('won', 'lost') GROUP BY mode, stage`,
      [now],
    );
  }

  private async select(condition: string, parameters: unknown[]): Promise<AdminDisputeView[]> {
    const rows = await this.dataSource.query<Row[]>(
      `SELECT d.dispute_id AS "disputeReference", p.payment_reference AS "svcId", d.stage, d.amount, d.reason, d.respond_by, d.created_at,
              y.merchant_id AS "merchantId", y.site_id AS "siteId", d.mode, y.currency AS "currencyISOCode", d.acquirer,
              d.acquirer_reference AS "acquirerReference", d.modified_at,
              (SELECT coalesce(sum(i.occurrences), 0) FROM dispute_incidents i
                WHERE i.acquirer = d.acquirer AND i.mode = d.mode AND i.dispute_reference = d.acquirer_reference)::int AS incidents
         FROM disputes d JOIN payments p ON p.payment_id = d.payment_id JOIN payables y ON y.payable_id = p.payable_id
        WHERE ${condition}`,
      parameters,
    );
    return rows.map(({ respond_by: respondBy, created_at: createdAt, modified_at: modifiedAt, ...row }) => ({
      ...row,
      respondByUTCDate: respondBy?.toISOString() ?? null,
      createdUTCDate: createdAt.toISOString(),
      modifiedUTCDate: modifiedAt.toISOString(),
    }));
  }
}

type Row = Omit<AdminDisputeView, 'respondByUTCDate' | 'createdUTCDate' | 'modifiedUTCDate'> & {
  readonly respond_by: Date | null;
  readonly created_at: Date;
  readonly modified_at: Date;
};

type IncidentRow = Omit<DisputeIncidentView, 'firstSeenUTCDate' | 'lastSeenUTCDate'> & {
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
};
