import { insertFromJson } from '@svc/persistence';
import { ATTEMPT_TYPES } from './attempt.repository.js';
import { PAYMENT_TYPES } from './payment-columns.js';

/** @param json the result of {@link rowFromPayment} with the fee terms */
export const insertPayments = (from: string, json: string): string =>
  insertFromJson('payments', PAYMENT_TYPES, from, json);

/** @param json the result of {@link rowFromAttempt} */
export const insertAttempts = (from: string, json: string): string =>
  insertFromJson('attempts', ATTEMPT_TYPES, from, json);

/**
 * SQL for a statement that accepts a payment. The SQL joins the FROM item `merchant`, which contains the merchant's
 * current `merchant_name` and the fee terms for the payment's mode. A merchant that is not stored yet has an empty name
 * and no fee. The lateral join forces an index lookup by key. With a plain join the planner might read the whole table.
 *
 * @param payment name of a FROM item with the columns `mode` and `merchant_id`
 */
export function joinMerchant(payment: string): string {
  return `CROSS JOIN LATERAL (
             SELECT coalesce(max(m.name), '') AS merchant_name, coalesce(max((terms ->> 'basisPoints')::int), 0) AS fee_basis_points,
                    coalesce(max((terms ->> 'fixedAmount')::bigint), 0) AS fee_fixed_amount
               FROM known_merchants m CROSS JOIN LATERAL (SELECT m.fees -> ${payment}.mode AS terms) AS fee
              WHERE m.merchant_id = ${payment}.merchant_id) AS merchant`;
}
