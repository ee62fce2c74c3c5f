import { Inject, Injectable } from '@nestjs/common';
import type { BookOwner, BookRange } from '@svc/contracts';
import { firstUuidAt } from '@svc/messaging';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { Acquirers } from '../acquirers/acquirers.js';
import { OWN_MOVEMENTS_OF_RANGE, SETTLEMENT_DEADLINE } from '../settlement-reports/own-movements.query.js';

/** Counts and sums of a merchant's payments and refunds in a range. */
export interface Totals extends BookOwner {
  /**
   * Number of successful payments; `processed` is their processed amount in cents.
   * @schema integer
   */
  readonly payments: number;
  readonly processed: number;
  readonly failed: number;
  /**
   * Payments without an outcome at the watermark: `processing`, `verificationRequired`, or final only after the
   * watermark.
   */
  readonly pending: number;
  /** Attempts without an outcome from the acquirer. */
  readonly unknown: number;
  readonly refunds: number;
  /**
   * Refunded amount in cents.
   * @schema integer
   */
  readonly refunded: number;
  readonly refundsPending: number;
  /** Captures, refunds and movements of disputes that no settlement report of the acquirer contains yet. */
  readonly unsettled: number;
}

/** Counts the totals in the report of a reconciliation. */
@Injectable()
export class DayTotalsQuery {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
  ) {}

  /**
   * Counts the payments accepted, the attempts started and the refunds created in the range, and the movements of the
   * range without a line of a settlement report. An acquirer may settle neither a movement nor its return. Both count
   * nevertheless, so that the day stays open for {@link SETTLEMENT_DEADLINE}: a report with a line of only one of them
   * would be a difference. Rows that became final after the watermark are not compared and count as pending.
   */
  async count({ from, until }: BookRange, watermark: Date, merchantId: number | undefined): Promise<Totals[]> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      const settledByReports = this.acquirers.namesWithSettlementReports;
      return tx.query<Totals[]>(TOTALS, [from, until, merchantId ?? null, watermark, settledByReports]);
    });
  }
}

const TOTALS = `
  SELECT merchant_id AS "merchantId", mode, sum(payments)::int AS payments, sum(processed)::bigint AS processed, sum(failed)::int AS failed,
         sum(pending)::int AS pending, sum(unknown)::int AS unknown, sum(refunds)::int AS refunds, sum(refunded)::bigint AS refunded,
         sum(refunds_pending)::int AS "refundsPending", sum(unsettled)::int AS unsettled
    FROM (
      SELECT y.merchant_id, y.mode, (final AND p.state = 'success')::int AS payments, CASE WHEN final THEN p.processed_amount ELSE 0 END AS processed,
             (final AND p.state = 'failed')::int AS failed, (NOT final)::int AS pending, 0 AS unknown, 0 AS refunds, 0 AS refunded, 0 AS refunds_pending,
             0 AS unsettled
        FROM payments p JOIN payables y ON y.payable_id = p.payable_id
       CROSS JOIN LATERAL (SELECT p.state IN ('success', 'failed') AND p.modified_at < $4::timestamptz AS final) AS outcome
       WHERE p.accepted_at >= $1 AND p.accepted_at < $2
      UNION ALL
      SELECT y.merchant_id, y.mode, 0, 0, 0, 0, 1, 0, 0, 0, 0
        FROM attempts a JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
       WHERE a.started_at >= $1 AND a.started_at < $2 AND a.state IN ('started', 'unknown', 'reversing')
      UNION ALL
      SELECT y.merchant_id, y.mode, 0, 0, 0, 0, 0, (final AND r.state = 'succeeded')::int,
             CASE WHEN final AND r.state = 'succeeded' THEN r.amount ELSE 0 END, (NOT final)::int, 0
        FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
       CROSS JOIN LATERAL (SELECT r.state <> 'pending' AND r.ended_at < $4::timestamptz AS final) AS outcome
       WHERE r.refund_id >= ${firstUuidAt('$1')} AND r.refund_id < ${firstUuidAt('$2')}
      UNION ALL
      SELECT y.merchant_id, y.mode, 0, 0, 0, 0, 0, 0, 0, 0, 1
        FROM (${OWN_MOVEMENTS_OF_RANGE}) AS own
        JOIN attempts a ON a.attempt_id = own.attempt_id
        JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
       WHERE a.acquirer = ANY ($5::text[]) AND (own.ended_at IS NULL OR own.ended_at >= $4 - ${SETTLEMENT_DEADLINE})
         AND NOT EXISTS (SELECT FROM settlement_lines l WHERE l.movement_id = own.movement_id AND l.kind = own.kind)) AS counted
   WHERE $3::bigint IS NULL OR merchant_id = $3
   GROUP BY merchant_id, mode`;
