import type { RunningSystem } from '../platforms/system.ts';

/** Time between two payments. A million payments are then 23 days of a partner with much traffic. */
const SECONDS_BETWEEN_PAYMENTS = 2;

/**
 * Writes the rows and the counts that payment-history stores for this many payments of one customer.
 * `invoiceExternalReference` is the number of the payment; the newest payment has number 0. The rows are not created by
 * events, because a million events would take minutes and the rows would be the same. Returns the duration in seconds.
 */
export async function seedHistory(
  sql: RunningSystem['sql'],
  organisationId: string,
  customerReference: string,
  payments: number,
): Promise<number> {
  const startedAt = performance.now();
  await sql('SET search_path = payment_history');
  await sql(
    `INSERT INTO payments (generation, payment_reference, version, organisation_id, mode, customer_key, customer_id, payment_utc_date,
                           reference, merchant_id, state, modified_utc_date, invoice_external_reference, merchant_name, site_reference, currency,
                           invoiced_amount, amount, tip_amount, processed_amount, method_type, method_label, first_name, last_name, errors)
     SELECT 1, 'ABCDEFGH' || lpad(number::text, 10, '0'), 2, '${organisationId}', 'test', '${customerReference}', '${customerReference}', at,
            gen_random_uuid()::text, 1001, 'success', at + interval '1 second', number::text, 'Karoo Books', 'TILL-1', 'ZAR',
            12345, 12345, 0, 12345, 'Card', '**** 4242', 'Thandi', 'Nkosi', '[]'
       FROM (SELECT number, date_trunc('second', now()) - number * interval '${SECONDS_BETWEEN_PAYMENTS} seconds' AS at
               FROM generate_series(0, ${payments - 1}) AS number) AS made
      -- The oldest first, in the order of their events.
      ORDER BY number DESC`,
  );
  await sql(
    `INSERT INTO payment_counts (generation, organisation_id, mode, customer_key, level, bucket, payments)
     SELECT generation, organisation_id, mode, owner.customer_key, level, floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint, count(*)
       FROM payments, LATERAL (VALUES (''), (payments.customer_key)) AS owner (customer_key), generate_series(1, 4) AS level
      GROUP BY 1, 2, 3, 4, 5, 6`,
  );
  await sql('VACUUM ANALYZE payments, payment_counts');
  return (performance.now() - startedAt) / 1_000;
}
