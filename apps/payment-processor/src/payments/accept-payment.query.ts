import { statementWithEvents } from '@svc/messaging';
import { type ColumnMap, insertedColumns, recordColumns, recordValues } from '@svc/persistence';
import { PAYABLE_MAP } from '../payables/payable.repository.js';
import { attackLevelOf, COUNTED_FIRST, countInFlight, isCounted } from '../velocity/counters/count-in-flight.query.js';
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

/** The values that the statement {@link ACCEPT} reads from the tables of merchants and sites. */
const NAMES = `'merchantName', "merchantName", 'siteReference', "siteReference"`;
const FEE_TERMS = `'feeBasisPoints', "feeBasisPoints", 'feeFixedAmount', "feeFixedAmount"`;

/** SQL: the payable of an item is new, or stored and open for the payment. A retry is not available: it charges nothing. */
const IS_AVAILABLE = `"merchantName" IS NOT NULL AND "siteReference" IS NOT NULL AND "expiresAt" > "acceptedAt"
                AND NOT EXISTS (SELECT FROM payables stored WHERE stored.payable_id = named."payableId"
                                   AND (stored.state <> 'open' OR stored.payment_count <> named."paymentCount" - 1))`;

/**
 * The statement of `PaymentRepository.accept`. Its text is the same for any number of payments. The payable to
 * insert contains the number of this payment in `paymentCount`. ON CONFLICT compares this number with the count of the
 * existing row. The limits against card testing are checked first (P11).
 */
export const ACCEPT = statementWithEvents({
  writes: `named AS MATERIALIZED (
         SELECT payable.*, payment."paymentId", payment.reference, payment."acceptedAt", item.payment, item.attempt, merchant.*,
                ${siteReferenceOf('payable')} AS "siteReference", item.checks
           FROM jsonb_to_recordset($items::jsonb) AS item(payable jsonb, payment jsonb, attempt jsonb, checks jsonb)
          CROSS JOIN LATERAL jsonb_to_record(item.payable) AS payable(${recordColumns(PAYABLE_MAP)}, "paymentCount" int)
          CROSS JOIN LATERAL jsonb_to_record(item.payment) AS payment("paymentId" uuid, reference uuid, "acceptedAt" timestamptz)
          ${joinMerchant('payable.mode', 'payable."merchantId"')}
       ), item AS (
         SELECT named.*, checks IS NOT NULL AND ${IS_AVAILABLE} AS "isAvailable",
                CASE WHEN checks IS NULL THEN 0 ELSE ${attackLevelOf('named.mode', 'named."siteId"', 'named."acceptedAt"')} END AS "attackLevel"
           FROM named
       ), ${countInFlight('item')}, payable AS (
         INSERT INTO payables AS p (${insertedColumns(PAYABLE_MAP)}, state, holder, payment_count, version, created_at, modified_at)
         SELECT ${recordValues(PAYABLE_MAP, 'item')}, 'reserved', "paymentId", "paymentCount", 2, "acceptedAt", "acceptedAt"
           FROM item CROSS JOIN ${COUNTED_FIRST}
          WHERE "merchantName" IS NOT NULL AND "siteReference" IS NOT NULL
            AND "expiresAt" > "acceptedAt" AND "paymentCount" <= "maxPayments"
            AND ("paymentCount" = 1 OR (SELECT true FROM payables known WHERE known.payable_id = item."payableId")
                          AND (SELECT true FROM payments earlier
                                WHERE earlier.payable_id = item."payableId" AND earlier.reference = item.reference) IS NULL)
            AND ${isCounted('item')}
          ORDER BY "payableId"
         ON CONFLICT (payable_id) DO UPDATE
            SET state = 'reserved', holder = excluded.holder, payment_count = p.payment_count + 1, version = p.version + 1,
                modified_at = excluded.modified_at
          WHERE p.state = 'open' AND p.expires_at > excluded.modified_at
            AND p.payment_count = excluded.payment_count - 1 AND p.payment_count < p.max_payments
            AND (p.mode, p.merchant_id, p.site_id, p.amount, p.currency)
              = (excluded.mode, excluded.merchant_id, excluded.site_id, excluded.amount, excluded.currency)
         RETURNING holder, version
       ), accepted AS (
         SELECT "paymentId", version, item.payment, attempt, "merchantName", "siteReference", "feeBasisPoints", "feeFixedAmount", "attackLevel"
           FROM payable JOIN item ON item."paymentId" = payable.holder
       ), payment AS (
         ${insertPayments('accepted', `accepted.payment || jsonb_build_object(${NAMES}, ${FEE_TERMS})`)}
       ), attempt AS (
         ${insertAttempts('accepted', 'accepted.attempt')}
       )`,
  changed: 'accepted',
  aggregateId: '"paymentId"',
  payload: `jsonb_set(event.payload::jsonb, '{payable,version}', to_jsonb(accepted.version))::json`,
  returns: `version, "merchantName", "siteReference", "feeBasisPoints", "feeFixedAmount", "attackLevel"`,
});
