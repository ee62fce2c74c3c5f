/**
 * Part of a statement that accepts a payment: joins `merchant`, with the merchant's `merchant_name` and the fee terms of the
 * payment's mode as they are now. Of a merchant that is not known yet there is no name and no fee. One look-up by key,
 * whatever the planner knows of the table: a plain join may read all of it.
 *
 * @param payment FROM item with `mode` and `merchant_id`
 */
export function joinMerchant(payment: string): string {
  return `CROSS JOIN LATERAL (
             SELECT max(m.name) AS merchant_name, coalesce(max((terms ->> 'basisPoints')::int), 0) AS fee_basis_points,
                    coalesce(max((terms ->> 'fixedAmount')::bigint), 0) AS fee_fixed_amount
               FROM known_merchants m CROSS JOIN LATERAL (SELECT m.fees -> ${payment}.mode AS terms) AS fee
              WHERE m.merchant_id = ${payment}.merchant_id) AS merchant`;
}
