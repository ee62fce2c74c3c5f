import type { DataSource } from 'typeorm';
import type { ConsolePayment } from '../read-model/console-payment.js';
import { SERVING_GENERATION } from '../read-model/read-model.js';
import type { PaymentScope } from '../viewer/payment-scope.js';

/** The payments of one hour, or of one site, in one state. */
export interface SalesSum {
  /** Hours since the beginning of the day; null in the sum of a site. */
  readonly hour: number | null;
  /** Null in the sum of an hour. */
  readonly siteId: number | null;
  readonly state: ConsolePayment['state'];
  readonly count: number;
  /** Cents. */
  readonly amount: number;
}

/**
 * $1 merchant, $2 mode, $3 sites or NULL, $4 beginning, $5 end. Reads the payments of the day once, in the order of an
 * index.
 */
const select = (sites: string): string => `
  SELECT CASE WHEN GROUPING(hour) = 0 THEN hour END AS hour,
         CASE WHEN GROUPING(site_id) = 0 THEN site_id END AS "siteId",
         state, count(*)::int AS count, sum(amount)::bigint AS amount
    FROM (SELECT floor(extract(epoch FROM p.payment_utc_date - $4::timestamptz) / 3600)::int AS hour, p.site_id, p.state, p.amount
            FROM payments p
           WHERE p.generation = ${SERVING_GENERATION} AND p.merchant_id = $1 AND p.mode = $2
             AND ${sites}
             AND p.payment_utc_date >= $4 AND p.payment_utc_date < $5) AS payment
   GROUP BY GROUPING SETS ((hour, state), (site_id, state))`;

const ALL_SITES = select('$3::bigint[] IS NULL');
const ONE_SITE = select('p.site_id = ($3::bigint[])[1]');
const SOME_SITES = select('p.site_id = ANY ($3::bigint[])');

/** Sums the payments of a time window of at most a few days. */
export function sumSales(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<SalesSum[]> {
  if (sites === 'all') return dataSource.query(ALL_SITES, [merchantId, mode, null, from, until]);
  const statement = sites.length === 1 ? ONE_SITE : SOME_SITES;
  return dataSource.query(statement, [merchantId, mode, sites, from, until]);
}
