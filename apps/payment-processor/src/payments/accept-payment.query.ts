import { type ColumnMap, insertedColumns, recordColumns } from '@svc/persistence';
import { ATTEMPT_MAP } from './attempt.repository.js';
import { PAYMENT_MAP } from './payment-columns.js';

/** SQL that inserts the JSON object `json` of each row of the FROM item `from` into a table. */
function insertJson(table: string, map: ColumnMap, from: string, json: string): string {
  return `INSERT INTO ${table} (${insertedColumns(map)})
         SELECT new_row.* FROM ${from} CROSS JOIN LATERAL jsonb_to_record(${json}) AS new_row(${recordColumns(map)})`;
}

/** @param json the result of {@link rowFromPayment} with the fee terms */
export const insertPayments = (from: string, json: string): string => insertJson('payments', PAYMENT_MAP, from, json);

/** @param json the result of {@link rowFromAttempt} */
export const insertAttempts = (from: string, json: string): string => insertJson('attempts', ATTEMPT_MAP, from, json);

/**
 * SQL for a statement that accepts a payment. The SQL joins the FROM item `merchant`, which contains the merchant's
 * current `merchantName` and the fee terms for the payment's mode, with the names of {@link PAYMENT_MAP}. The aggregates
 * return one row also for an unknown merchant, whose name is NULL. A mode without fee terms has no fee. The lateral join
 * forces an index lookup by key. With a plain join the planner might read the whole table.
 *
 * @param mode SQL expression for the payment's mode
 * @param merchantId SQL expression for the merchant's id
 */
export function joinMerchant(mode: string, merchantId: string): string {
  return `CROSS JOIN LATERAL (
             SELECT max(m.name) AS "merchantName", coalesce(max((terms ->> 'basisPoints')::int), 0) AS "feeBasisPoints",
                    coalesce(max((terms ->> 'fixedAmount')::bigint), 0) AS "feeFixedAmount"
               FROM known_merchants m CROSS JOIN LATERAL (SELECT m.fees -> ${mode} AS terms) AS fee
              WHERE m.merchant_id = ${merchantId}) AS merchant`;
}

/**
 * SQL for the reference of the till (for an invoice) or of the site (for a session). NULL while the site is unknown, or
 * is known as a site of another merchant.
 *
 * @param payable FROM item with the columns `source`, `"siteId"` and `"merchantId"`
 */
export function siteReferenceOf(payable: string): string {
  return `coalesce(${payable}.source ->> 'siteReference',
                         (SELECT s.site_reference FROM known_sites s
                           WHERE s.site_id = ${payable}."siteId" AND s.merchant_id = ${payable}."merchantId"))`;
}
