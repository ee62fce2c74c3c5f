import { Inject, Injectable } from '@nestjs/common';
import type { BookRange, MerchantRefund, PaymentSnapshot } from '@svc/contracts';
import { buildPaymentNotification, hasNotification } from '@svc/kernel';
import { isoTime } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';

/** Reversals are rare. More than this number in one hour indicates an outage, and the run fails. */
const MAX_REVERSALS = 10_000;

/**
 * The expected notifications of automatic reversals and of refunds whose money came back. SQL cannot compute the ids of
 * these notifications, so the function `buildPaymentNotification` builds the notifications here.
 */
@Injectable()
export class ReversalNotificationsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Returns the notifications of reversals and returns of the range, as the JSON parameter of the statements for expected
   * notifications.
   */
  async find({ from, until }: BookRange): Promise<string> {
    const rows = await this.dataSource.query<ReversalRow[]>(
      `SELECT moved.at, moved.capture_failed, moved.refund, ${PAYMENT_COLUMNS}
         FROM (SELECT a.payment_id, r.confirmed_at AS at, false AS capture_failed, NULL::jsonb AS refund
                 FROM reversals r JOIN attempts a ON a.attempt_id = r.attempt_id
                WHERE r.found_charge AND r.confirmed_at >= $1 AND r.confirmed_at < $2
               UNION ALL
               SELECT payment_id, ended_at, true, NULL FROM captures WHERE state = 'failed' AND ended_at >= $1 AND ended_at < $2
               UNION ALL
               SELECT payment_id, returned_at, false,
                      jsonb_build_object('refundReference', refund_id, 'amount', amount, 'createdUTCDate', ${isoTime('created_at')})
                 FROM refunds WHERE returned_at >= $1 AND returned_at < $2) AS moved,
              ${PAYMENT_TABLES}
        WHERE p.payment_id = moved.payment_id LIMIT ${MAX_REVERSALS + 1}`,
      [from, until],
    );
    if (rows.length > MAX_REVERSALS) throw new Error(`There are more than ${MAX_REVERSALS} reversals from ${from}.`);
    return JSON.stringify(rows.flatMap(toNotificationLines));
  }
}

interface ReversalRow extends PaymentRow {
  /** When the reversal was confirmed, the capture failed, or the money of the refund came back. */
  readonly at: Date;
  readonly capture_failed: boolean;
  /** Only for a refund whose money came back. */
  readonly refund: Pick<MerchantRefund, 'refundReference' | 'amount' | 'createdUTCDate'> | null;
}

function toNotificationLines(row: ReversalRow): object[] {
  const at = row.at.toISOString();
  const payment: PaymentSnapshot = {
    ...snapshotFromRow(row),
    ...(row.refund
      ? { refund: { ...row.refund, status: 'failed', returnedUTCDate: at } }
      : { reversedUTCDate: at, captureFailed: row.capture_failed }),
  };
  if (!hasNotification(payment)) return [];
  const { id, notification } = buildPaymentNotification(payment);
  const { customer: _, ...line } = notification;
  const { mode, merchantId, siteId, paymentReference: reference } = payment;
  const status = row.state === 'success' ? 'Success' : 'Failed';
  return [{ mode, merchantId, siteId, at, reference, status, key: `${reference}/${id}`, line }];
}
