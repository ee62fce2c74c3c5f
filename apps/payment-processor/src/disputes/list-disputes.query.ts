import { Inject, Injectable } from '@nestjs/common';
import type { DisputeResponse, DisputeStage, Mode } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** Owner of payments: a merchant in one mode, or one of its sites. */
interface DisputeOwner {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Undefined: all sites of the merchant. */
  readonly siteId: number | undefined;
}

/** Limit of listed disputes of one payment. */
const MAX_LISTED_DISPUTES = 1_000;

/** Lists the disputes of a payment for its merchant. */
@Injectable()
export class ListDisputesQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The disputes of a payment, newest first. Undefined if the owner has no such payment. */
  async list(owner: DisputeOwner, paymentReference: string): Promise<DisputeResponse[] | undefined> {
    const rows = await this.dataSource.query<Row[]>(
      `SELECT d.dispute_id, d.stage, d.amount, d.reason, d.respond_by, d.created_at
         FROM payments p JOIN payables y ON y.payable_id = p.payable_id LEFT JOIN disputes d ON d.payment_id = p.payment_id
        WHERE p.payment_reference = $1 AND y.merchant_id = $2 AND y.mode = $3 AND ($4::bigint IS NULL OR y.site_id = $4)
        ORDER BY d.dispute_id DESC LIMIT $5`,
      [paymentReference, owner.merchantId, owner.mode, owner.siteId ?? null, MAX_LISTED_DISPUTES],
    );
    if (rows.length === 0) return undefined;
    // A payment without disputes has one row, without a dispute.
    return rows.filter(isDispute).map((row) => ({
      disputeReference: row.dispute_id,
      svcId: paymentReference,
      ...{ stage: row.stage, amount: row.amount, reason: row.reason },
      ...(row.respond_by ? { respondByUTCDate: row.respond_by.toISOString() } : {}),
      createdUTCDate: row.created_at.toISOString(),
    }));
  }
}

interface DisputeRow {
  readonly dispute_id: string;
  readonly stage: DisputeStage;
  readonly amount: number;
  readonly reason: string;
  readonly respond_by: Date | null;
  readonly created_at: Date;
}

type Row = DisputeRow | { readonly dispute_id: null };

function isDispute(row: Row): row is DisputeRow {
  return row.dispute_id !== null;
}
