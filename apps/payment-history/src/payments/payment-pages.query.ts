import { Inject, Injectable } from '@nestjs/common';
import type { ShownPayment } from '@svc/contracts';
import { DataSource } from 'typeorm';
import type { PaymentOwner } from './payment-owner.js';
import { SERVING, SHOWN, toShownPayment, type ShownRow } from './payment.repository.js';

/** Each level of payment_counts has stretches of time this many times as long as the level below. */
const FAN_OUT = 64;
const LEVELS = 4;

/**
 * Pages of a history, the newest payment first. Page 20 000 costs what page 1 costs: where it begins is found by adding
 * up counts, from half years down to minutes, at most 64 of each; only inside that minute are payments stepped over.
 * A page number that is turned into OFFSET alone would read every payment before it (docs/adr/0016).
 */
@Injectable()
export class PaymentPagesQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** `limit` payments from the `offset`-th on (from 0), the newest first; fewer at the end, none behind it. */
  async find(owner: PaymentOwner, offset: number, limit: number): Promise<ShownPayment[]> {
    const { organisationId, mode, customerId } = owner;
    const rows = await this.dataSource.query<ShownRow[]>(pageStatement(owner), [
      organisationId,
      mode,
      customerId ?? '',
      offset,
      limit,
    ]);
    return rows.map(toShownPayment);
  }
}

/** The newest stretch of a level with the payment at the offset in it, and how many payments are newer than the stretch. */
function stretch(level: number): string {
  const above = level === LEVELS ? undefined : `level_${level + 1}`;
  return `level_${level} AS MATERIALIZED (
    SELECT bucket, up_to - payments AS newer FROM (
      SELECT bucket, payments, (${above ? `coalesce((SELECT newer FROM ${above}), 0) + ` : ''}sum(payments) OVER (ORDER BY bucket DESC))::bigint AS up_to
        FROM payment_counts
       WHERE generation = ${SERVING} AND organisation_id = $1 AND mode = $2 AND customer_id = $3 AND level = ${level}
         ${above ? `AND bucket BETWEEN (SELECT bucket FROM ${above}) * ${FAN_OUT} AND (SELECT bucket FROM ${above}) * ${FAN_OUT} + ${FAN_OUT - 1}` : ''}
    ) AS added WHERE up_to > $4 ORDER BY bucket DESC LIMIT 1)`;
}

/** $1 organisation, $2 mode, $3 customer or '', $4 offset, $5 limit. */
function page(ofCustomer: string): string {
  const levels = Array.from({ length: LEVELS }, (_, index) => stretch(LEVELS - index));
  return `WITH ${levels.join(', ')}
  SELECT ${SHOWN} FROM payments
   WHERE generation = ${SERVING} AND organisation_id = $1 AND mode = $2 ${ofCustomer}
     AND payment_utc_date < (SELECT to_timestamp((bucket + 1) * ${FAN_OUT}) FROM level_1)
   ORDER BY payment_utc_date DESC, reference DESC
  OFFSET $4::bigint - coalesce((SELECT newer FROM level_1), 0) LIMIT $5`;
}

/** The statement of {@link PaymentPages.find}; here for the test that counts what it reads. */
export function pageStatement({ customerId }: PaymentOwner): string {
  return customerId === undefined ? PAGE_OF_ALL : PAGE_OF_CUSTOMER;
}

const PAGE_OF_ALL = page('');
const PAGE_OF_CUSTOMER = page('AND customer_id = $3');
