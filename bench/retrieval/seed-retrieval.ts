import { newPaymentReference } from '@svc/kernel';
import type { RunningSystem } from '../platforms/system.ts';

/** The references of a payment that a look-up searches for. */
export interface SeededPayment {
  readonly invoiceReference: string;
  readonly externalReference: string;
  readonly paymentReference: string;
}

export interface SeededMerchant {
  /** One of the newest payments. */
  readonly insideWindow: SeededPayment;
  /** A payment that is older than three calendar months, on whichever day of a month the benchmark runs. */
  readonly outsideWindow: SeededPayment;
  /** Duration of seeding. */
  readonly seconds: number;
}

/**
 * Number of the payment inside the window. The newest payment has number 0, so payment 1 is newer than 24 hours, even
 * with few payments.
 */
const PAYMENT_INSIDE_WINDOW = 1;
/** Number of the payment outside the window, as a share of all payments. */
const SHARE_OF_PAYMENT_OUTSIDE_WINDOW = 0.99;

/**
 * Writes the rows that merchant-retrieval stores for this many payments, and creates their partitions. The payments are
 * evenly spread over four months, so that the oldest are outside the longest window.
 */
export async function seedRetrieval(
  sql: RunningSystem['sql'],
  { merchantId, siteId }: { merchantId: number; siteId: number },
  payments: number,
): Promise<SeededMerchant> {
  const startedAt = performance.now();
  await sql('SET search_path = merchant_retrieval');
  await sql(`SELECT ensure_month_partitions('payments', (now() AT TIME ZONE 'UTC' - interval '4 months')::date, 5)`);
  await sql(
    `INSERT INTO payments (generation, payment_reference, payment_utc_date, version, merchant_id, site_id, mode, status,
                           invoice_reference, external_reference, currency, invoiced_amount, tip_amount, tendered_amount,
                           site_reference, vouchers, first_name, last_name)
     SELECT 1, ${paymentReferenceSql(merchantId, 'number')}, at, 2, ${merchantId}, ${siteId}, 'test', 1,
            'seeded-' || number, 'SEEDED-' || number, 'ZAR', 12345, 0, 12345, 'TILL-1', '[]', 'Thandi', 'Nkosi'
       FROM (SELECT number, now() - number * (now() - oldest) / ${payments} AS at
               FROM generate_series(0, ${payments - 1}) AS number,
                    (SELECT date_trunc('month', now() AT TIME ZONE 'UTC' - interval '4 months') AT TIME ZONE 'UTC' AS oldest)) AS seed
      -- The oldest first, in the order of their events.
      ORDER BY number DESC`,
  );
  const assignReference = async (number: number): Promise<SeededPayment> => {
    // A look-up rejects a reference with a wrong check character (C3), so this payment gets a valid reference.
    const paymentReference = newPaymentReference(new Date());
    await sql(
      `UPDATE payments SET payment_reference = '${paymentReference}'
        WHERE payment_reference = ${paymentReferenceSql(merchantId, String(number))}`,
    );
    return { invoiceReference: `seeded-${number}`, externalReference: `SEEDED-${number}`, paymentReference };
  };
  return {
    insideWindow: await assignReference(PAYMENT_INSIDE_WINDOW),
    outsideWindow: await assignReference(Math.floor(payments * SHARE_OF_PAYMENT_OUTSIDE_WINDOW)),
    seconds: (performance.now() - startedAt) / 1_000,
  };
}

/** SQL expression of a payment reference: 18 characters, without a valid check character. */
function paymentReferenceSql(merchantId: number, number: string): string {
  return `lpad('${merchantId}', 8, '0') || lpad(${number}::text, 10, '0')`;
}
