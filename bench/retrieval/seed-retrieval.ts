import type { RunningSystem } from '../hosted-payment/system.ts';

/** How a payment of a measurement is found: by its number, 0 for the newest. */
export const referencesOf = (merchantId: number, number: number) => ({
  invoice: `invoice-${number}`,
  external: `ORDER-${number}`,
  /** 18 characters of the alphabet of service payment ids (C3). */
  payment: `${String(merchantId).padStart(8, '0')}${String(number).padStart(10, '0')}`,
});

/**
 * Writes what merchant-retrieval would keep of so many payments, evenly spread over four months: the longest window has left
 * the oldest, whose partition is made here. Returns seconds.
 */
export async function seedRetrieval(
  sql: RunningSystem['sql'],
  { merchantId, siteId }: { merchantId: number; siteId: number },
  payments: number,
): Promise<number> {
  const from = performance.now();
  await sql('SET search_path = merchant_retrieval');
  await sql(`SELECT ensure_month_partitions('payments', (now() AT TIME ZONE 'UTC' - interval '4 months')::date, 5)`);
  await sql(
    `INSERT INTO payments (generation, payment_reference, payment_utc_date, version, merchant_id, site_id, mode, status,
                           invoice_reference, external_reference, currency, invoiced_amount, tip_amount, tendered_amount,
                           site_reference, vouchers, first_name, last_name)
     SELECT 1, lpad('${merchantId}', 8, '0') || lpad(number::text, 10, '0'), at, 2, ${merchantId}, ${siteId}, 'test', 1,
            'invoice-' || number, 'ORDER-' || number, 'ZAR', 12345, 0, 12345, 'TILL-1', '[]', 'Thandi', 'Nkosi'
       FROM (SELECT number, now() - number * (now() - oldest) / ${payments} AS at
               FROM generate_series(0, ${payments - 1}) AS number,
                    (SELECT date_trunc('month', now() AT TIME ZONE 'UTC' - interval '4 months') AT TIME ZONE 'UTC' AS oldest)) AS made
      -- The oldest first, as they would have come.
      ORDER BY number DESC`,
  );
  return (performance.now() - from) / 1_000;
}
