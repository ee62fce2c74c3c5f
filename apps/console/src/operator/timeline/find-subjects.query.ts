import type { TimelineSubject } from '@svc/contracts';
import { isoTime } from '@svc/messaging';
import type { DataSource } from 'typeorm';
import { SERVING_GENERATION } from '../../read-model/read-model.js';
import { rangeOf, type TimelineQuery, type TimelineTerm } from './timeline-query.js';

/** An order number such as "1" can belong to payments of many merchants, so only so many are read and sorted. */
const MAX_READ = 1_000;

/** Columns of the search, with which its index begins. The index of order numbers begins with the merchant and the mode. */
const SEARCHED: Readonly<Record<Exclude<TimelineTerm['kind'], 'order'>, string>> = {
  reference: 't.payment_reference = $1',
  payable: 't.payable_id = $1::uuid',
  code: `t.code = $1 AND t.code <> ''`,
  card: `t.last_digits = $1 AND t.last_digits <> ''`,
};

const IN_TIME = `($2::text IS NULL OR t.mode = $2) AND t.payment_utc_date >= $3 AND t.payment_utc_date < $4`;
const selectDirectly = (condition: string): string => `
  SELECT * FROM payments t WHERE t.generation = ${SERVING_GENERATION} AND ${condition} AND ${IN_TIME} LIMIT ${MAX_READ}`;

/**
 * One look-up in the index for each merchant and mode: an operator searches rarely, and an index of order numbers of all
 * merchants would cost each payment.
 */
const SELECT_ORDERS = `
  SELECT o.* FROM known_merchants m CROSS JOIN (VALUES ('test'), ('live')) AS modes (mode)
   CROSS JOIN LATERAL (
     SELECT * FROM payments t
      WHERE t.generation = ${SERVING_GENERATION} AND t.merchant_id = m.merchant_id AND t.mode = modes.mode
        AND lower(t.order_reference) = lower($1) AND t.order_reference <> '' AND ${IN_TIME}
      LIMIT ${MAX_READ}) o LIMIT ${MAX_READ}`;

/** $1 the value, $2 mode or NULL, $3 from, $4 until. Unlike the lists of merchants, the search has no merchant. */
const select = (payments: string): string => `
  SELECT 'payment' AS kind, p.payment_reference AS reference, ${isoTime('p.payment_utc_date')} AS "utcDate", p.mode,
         p.merchant_id AS "merchantId", p.site_id AS "siteId", p.amount, p.currency AS "currencyISOCode", p.state,
         p.order_reference AS "orderReference", p.payable_id AS "payableId", p.source, p.code
    FROM (${payments}) p
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC LIMIT $5`;

/** Payments of all merchants with an outcome, for operators, newest first. */
export async function findSubjects(
  dataSource: Pick<DataSource, 'query'>,
  { kind, value }: TimelineTerm,
  query: Pick<TimelineQuery, 'day' | 'mode'>,
  limit: number,
): Promise<TimelineSubject[]> {
  const { from, until } = rangeOf(query);
  const payments = kind === 'order' ? SELECT_ORDERS : selectDirectly(SEARCHED[kind]);
  return dataSource.query(select(payments), [value, query.mode ?? null, from, until, limit]);
}
