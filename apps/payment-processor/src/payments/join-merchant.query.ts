/**
 * SQL for a statement that accepts a payment. The SQL joins the FROM item `merchant`, which contains the merchant's
 * current `merchant_name` and the fee terms for the payment's mode. A merchant that is not stored yet has no name and
 * no fee. The lateral join forces an index lookup by key. With a plain join the planner might read the whole table.
 *
 * @param payment name of a FROM item with the columns `mode` and `merchant_id`
 */
export function joinMerchant(payment: string): string {
  return `CROSS JOIN LATERAL (
             SELECT max(m.name) AS merchant_name, coalesce(max((terms ->> 'basisPoints')::int), 0) AS fee_basis_points,
                    coalesce(max((terms ->> 'fixedAmount')::bigint), 0) AS fee_fixed_amount
               FROM known_merchants m CROSS JOIN LATERAL (SELECT m.fees -> ${payment}.mode AS terms) AS fee
              WHERE m.merchant_id = ${payment}.merchant_id) AS merchant`;
}
