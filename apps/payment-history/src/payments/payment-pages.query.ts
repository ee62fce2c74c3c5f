import { Inject, Injectable } from '@nestjs/common';
import type { PaymentView } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { PAYMENT_COLUMNS, type PaymentRow, paymentViewFromRow, SERVING_GENERATION } from './payment.repository.js';
import type { PaymentOwner } from './payment-owner.js';

/**
 * payment_counts has 4 levels of time buckets. A bucket of the lowest level has 64 seconds. A bucket of any other level
 * is 64 times as long as a bucket of the level below.
 */
const FAN_OUT = 64;
const LEVELS = 4;

/**
 * Reads pages of the history, the newest payment first. Every page costs the same (ADR 16). To find the time bucket in
 * which the page begins, the query adds up the counts of buckets: first of buckets of half a year, then of shorter
 * buckets, and finally of buckets of a minute. It reads at most 64 buckets of each length, and uses OFFSET only within
 * the last bucket. With OFFSET alone, it would read all newer payments.
 */
@Injectable()
export class PaymentPagesQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Returns at most `limit` payments, the newest first, after skipping `offset` payments. */
  async find(owner: PaymentOwner, offset: number, limit: number): Promise<PaymentView[]> {
    const { organisationId, mode, customerKey } = owner;
    const rows = await this.dataSource.query<PaymentRow[]>(pageStatement(owner), [
      organisationId,
      mode,
      customerKey ?? '',
      offset,
      limit,
    ]);
    return rows.map(paymentViewFromRow);
  }
}

/**
 * Returns a CTE. The CTE finds the bucket of a level that contains the payment at the offset. It also counts the
 * payments that are newer than this bucket.
 */
function bucketSql(level: number): string {
  const above = level === LEVELS ? undefined : `level_${level + 1}`;
  return `level_${level} AS MATERIALIZED (
    SELECT bucket, up_to - payments AS newer FROM (
      SELECT bucket, payments, (${above ? `coalesce((SELECT newer FROM ${above}), 0) + ` : ''}sum(payments) OVER (ORDER BY bucket DESC))::bigint AS up_to
        FROM payment_counts
       WHERE generation = ${SERVING_GENERATION} AND organisation_id = $1 AND mode = $2 AND customer_key = $3 AND level = ${level}
         ${above ? `AND bucket BETWEEN (SELECT bucket FROM ${above}) * ${FAN_OUT} AND (SELECT bucket FROM ${above}) * ${FAN_OUT} + ${FAN_OUT - 1}` : ''}
    ) AS added WHERE up_to > $4 ORDER BY bucket DESC LIMIT 1)`;
}

/** $1 organisation, $2 mode, $3 customer or '', $4 offset, $5 limit. */
function pageSql(customerCondition: string): string {
  const levels = Array.from({ length: LEVELS }, (_, index) => bucketSql(LEVELS - index));
  return `WITH ${levels.join(', ')}
  SELECT ${PAYMENT_COLUMNS} FROM payments
   WHERE generation = ${SERVING_GENERATION} AND organisation_id = $1 AND mode = $2 ${customerCondition}
     AND payment_utc_date < (SELECT to_timestamp((bucket + 1) * ${FAN_OUT}) FROM level_1)
   ORDER BY payment_utc_date DESC, reference DESC
  OFFSET $4::bigint - coalesce((SELECT newer FROM level_1), 0) LIMIT $5`;
}

/** Returns the statement of {@link PaymentPagesQuery.find}. It is exported for the test of its cost. */
export function pageStatement({ customerKey }: PaymentOwner): string {
  return customerKey === undefined ? PAGE_OF_ALL : PAGE_OF_CUSTOMER;
}

const PAGE_OF_ALL = pageSql('');
const PAGE_OF_CUSTOMER = pageSql('AND customer_key = $3');
