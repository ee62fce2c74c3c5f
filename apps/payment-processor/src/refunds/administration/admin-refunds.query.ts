import { Inject, Injectable } from '@nestjs/common';
import type { Mode, RefundResponse } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** A refund as the administration API shows it. */
export interface AdminRefundView extends RefundResponse {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly currencyISOCode: string;
  readonly reason: string | null;
  readonly acquirer: string;
  /** The acquirer's reference of the refund; null while it is pending. */
  readonly acquirerReference: string | null;
  /** ISO 8601 UTC; null while it is pending. */
  readonly endedUTCDate: string | null;
  /** Number of queries to the acquirer by the recovery job. */
  readonly queries: number;
  /** Number of responses of the acquirer that contradicted the state of the refund. */
  readonly incidents: number;
}

const MAX_LISTED_REFUNDS = 100;

/** Lists refunds of all merchants for `./svc admin refunds`. Each kind of list uses an index. */
@Injectable()
export class AdminRefundsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Lists at most 100 refunds: the newest refunds, or pending refunds with the oldest first, or refunds of one payment
   * with the newest first.
   */
  async list(filter: 'newest' | 'pending' | { readonly paymentReference: string }): Promise<AdminRefundView[]> {
    const condition =
      filter === 'newest'
        ? ''
        : filter === 'pending'
          ? 'WHERE r.next_query_at IS NOT NULL'
          : 'WHERE r.payment_id = (SELECT payment_id FROM payments WHERE payment_reference = $2)';
    const order = filter === 'pending' ? 'r.refund_id' : 'r.refund_id DESC';
    const rows = await this.dataSource.query<Row[]>(
      `SELECT r.refund_id AS "refundReference", p.payment_reference AS "svcId", r.amount, r.state AS status, r.created_at,
              y.merchant_id AS "merchantId", y.site_id AS "siteId", y.mode, y.currency AS "currencyISOCode", r.reason, a.acquirer,
              r.acquirer_reference AS "acquirerReference", r.ended_at, r.queries,
              (SELECT coalesce(sum(i.occurrences), 0) FROM refund_incidents i WHERE i.refund_id = r.refund_id)::int AS incidents
         FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
         JOIN attempts a ON a.attempt_id = r.attempt_id
        ${condition} ORDER BY ${order} LIMIT $1`,
      [MAX_LISTED_REFUNDS, ...(typeof filter === 'object' ? [filter.paymentReference] : [])],
    );
    return rows.map(({ created_at: createdAt, ended_at: endedAt, ...row }) => ({
      ...row,
      createdUTCDate: createdAt.toISOString(),
      endedUTCDate: endedAt?.toISOString() ?? null,
    }));
  }
}

type Row = Omit<AdminRefundView, 'createdUTCDate' | 'endedUTCDate'> & { created_at: Date; ended_at: Date | null };
