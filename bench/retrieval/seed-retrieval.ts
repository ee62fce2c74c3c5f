import { newPaymentReference } from '@svc/kernel';
import type { RunningSystem } from '../platforms/system.ts';

/** One of the payments that a look-up must find, or must not find. */
export interface SeededPayment {
  readonly invoiceReference: string;
  readonly externalReference: string;
  readonly paymentReference: string;
}

export interface SeededMerchant {
  /** One of the newest. */
  readonly inside: SeededPayment;
  /** Older than three calendar months, on any day of a month. */
  readonly outside: SeededPayment;
  readonly seconds: number;
}

/** Newer than 24 hours, however few payments there are. */
const INSIDE = 1;
const OUTSIDE_SHARE = 0.99;

/**
 * Writes the rows that merchant-retrieval stores for this many payments, evenly spread over four months, so that the oldest
 * are outside the longest window. Creates the partitions for them.
 */
export async function seedRetrieval(
  sql: RunningSystem['sql'],
  { merchantId, siteId }: { merchantId: number; siteId: number },
  payments: number,
): Promise<SeededMerchant> {
  const from = performance.now();
  await sql('SET search_path = merchant_retrieval');
  await sql(`SELECT ensure_month_partitions('payments', (now() AT TIME ZONE 'UTC' - interval '4 months')::date, 5)`);
  await sql(
    `INSERT INTO payments (generation, payment_reference, payment_utc_date, version, merchant_id, site_id, mode, status,
                           invoice_reference, external_reference, currency, invoiced_amount, tip_amount, tendered_amount,
                           site_reference, vouchers, first_name, last_name)
     SELECT 1, ${seededReference(merchantId, 'number')}, at, 2, ${merchantId}, ${siteId}, 'test', 1,
            'seeded-' || number, 'SEEDED-' || number, 'ZAR', 12345, 0, 12345, 'TILL-1', '[]', 'Thandi', 'Nkosi'
       FROM (SELECT number, now() - number * (now() - oldest) / ${payments} AS at
               FROM generate_series(0, ${payments - 1}) AS number,
                    (SELECT date_trunc('month', now() AT TIME ZONE 'UTC' - interval '4 months') AT TIME ZONE 'UTC' AS oldest)) AS seed
      -- The oldest first, in the order of their events.
      ORDER BY number DESC`,
  );
  const assignReference = async (number: number): Promise<SeededPayment> => {
    // A look-up rejects a reference with a wrong check character (C3).
    const paymentReference = newPaymentReference(new Date());
    await sql(
      `UPDATE payments SET payment_reference = '${paymentReference}'
        WHERE payment_reference = ${seededReference(merchantId, String(number))}`,
    );
    return { invoiceReference: `seeded-${number}`, externalReference: `SEEDED-${number}`, paymentReference };
  };
  return {
    inside: await assignReference(INSIDE),
    outside: await assignReference(Math.floor(payments * OUTSIDE_SHARE)),
    seconds: (performance.now() - from) / 1_000,
  };
}

/** SQL for 18 characters of the alphabet of service payment ids. */
function seededReference(merchantId: number, number: string): string {
  return `lpad('${merchantId}', 8, '0') || lpad(${number}::text, 10, '0')`;
}
