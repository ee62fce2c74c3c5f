import { Inject, Injectable } from '@nestjs/common';
import type { BookRange } from '@svc/contracts';
import { buildPaymentNotification, hasNotification } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';

/** Late approvals are rare. More than this number in one hour indicates an outage, and the run fails. */
const MAX_REVERSALS = 10_000;

/**
 * The expected notifications of automatic reversals. SQL cannot compute the ids of these notifications, so the function `buildPaymentNotification`
 * builds the notifications here.
 */
@Injectable()
export class ReversalNotificationsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Returns the notifications of reversals that were confirmed in the range, as the JSON parameter of the statements for
   * expected notifications.
   */
  async find({ from, until }: BookRange): Promise<string> {
    const rows = await this.dataSource.query<(PaymentRow & { confirmed_at: Date })[]>(
      `SELECT r.confirmed_at, ${PAYMENT_COLUMNS}
         FROM ${PAYMENT_TABLES} JOIN attempts a ON a.payment_id = p.payment_id JOIN reversals r ON r.attempt_id = a.attempt_id
        WHERE r.confirmed_at >= $1 AND r.confirmed_at < $2 LIMIT ${MAX_REVERSALS + 1}`,
      [from, until],
    );
    if (rows.length > MAX_REVERSALS) throw new Error(`There are more than ${MAX_REVERSALS} reversals from ${from}.`);
    return JSON.stringify(rows.flatMap(toNotificationLines));
  }
}

function toNotificationLines(row: PaymentRow & { confirmed_at: Date }): object[] {
  const payment = { ...snapshotFromRow(row), reversedUTCDate: row.confirmed_at.toISOString() };
  if (!hasNotification(payment)) return [];
  const { id, notification } = buildPaymentNotification(payment);
  const { customer: _, ...line } = notification;
  const { mode, merchantId, siteId, reversedUTCDate: at, paymentReference: reference } = payment;
  return [{ mode, merchantId, siteId, at, reference, key: `${reference}/${id}`, line }];
}
