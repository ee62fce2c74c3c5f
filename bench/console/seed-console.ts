import { newPaymentReference } from '@svc/kernel';
import type { RunningSystem } from '../platforms/system.ts';

/** Time between two payments of the merchant. A million payments are then 93 days. */
const SECONDS_BETWEEN_PAYMENTS = 8;
const OTHER_MERCHANTS = 1_000;
/** Payments of each other merchant. */
const PAYMENTS_OF_OTHERS = 100;
/** One of so many payments waits for the payer. */
const VERIFICATION_SHARE = 100_000;

/** The payment that the searches find, in the middle of the merchant's payments. */
export interface SeededPayment {
  readonly number: number;
  readonly paymentReference: string;
  readonly payableId: string;
}

/**
 * Writes the rows that the console stores for this many payments of one merchant, the newest with number 0, and for a
 * thousand other merchants with 100 payments each. Of 100 payments 8 failed, 5 are vouchers and one was given back.
 */
export async function seedConsole(
  sql: RunningSystem['sql'],
  merchantId: number,
  siteIds: readonly number[],
  payments: number,
): Promise<SeededPayment> {
  await sql('SET search_path = console');
  // The oldest first, in the order of their events.
  await sql(insertPayments(String(merchantId), siteIds, payments, 'ORDER BY n DESC'));
  await sql(insertPayments(`9000000 + n % ${OTHER_MERCHANTS}`, [1], OTHER_MERCHANTS * PAYMENTS_OF_OTHERS, '', 'Z'));
  await sql(
    `INSERT INTO refunds (generation, refund_reference, version, payment_reference, amount, status, created_utc_date)
     SELECT generation, gen_random_uuid(), 1, payment_reference, 100, 'succeeded', payment_utc_date + interval '1 hour'
       FROM payments WHERE merchant_id = ${merchantId} AND order_reference LIKE '%00'`,
  );
  const number = Math.floor(payments / 2) + 1;
  // A page checks the last character of a reference (C3), so this payment gets a valid one.
  const paymentReference = newPaymentReference(new Date());
  const [row] = await sql<{ payableId: string }>(
    `UPDATE payments SET payment_reference = '${paymentReference}', code = lpad('${number}', 20, '7'), customer_name = 'Nomsa ${number}'
      WHERE merchant_id = ${merchantId} AND order_reference = 'ORDER-${number}' RETURNING payable_id AS "payableId"`,
  );
  await sql('VACUUM ANALYZE payments, refunds');
  return { number, paymentReference, payableId: row!.payableId };
}

function insertPayments(
  merchant: string,
  siteIds: readonly number[],
  payments: number,
  order: string,
  prefix = 'A',
): string {
  const site = `(ARRAY[${siteIds.join()}])[1 + n % ${siteIds.length}]`;
  return `
    INSERT INTO payments (generation, payment_reference, version, merchant_id, mode, site_id, site_reference,
                          payment_utc_date, modified_utc_date, state, currency, amount, tip_amount, processed_amount, method,
                          method_label, last_digits, order_reference, payable_id, source, code, is_of_partner, customer_id,
                          customer_name, errors)
    SELECT 1, '${prefix}' || lpad(n::text, 17, '0'), 2, ${merchant}, 'test', ${site}, 'TILL-1', at, at + interval '1 second',
           state, 'ZAR', 1000 + n % 50000, 0, CASE WHEN state = 'success' THEN 1000 + n % 50000 ELSE 0 END,
           CASE WHEN is_voucher THEN 'Voucher' ELSE 'Card' END, CASE WHEN is_voucher THEN '' ELSE '**** ' || digits END,
           CASE WHEN is_voucher THEN '' ELSE digits END, 'ORDER-' || n, gen_random_uuid(), 'session', lpad(n::text, 20, '5'), n % 10 = 0,
           CASE WHEN n % 10 = 0 THEN 'customer-' || n % 5000 ELSE '' END, CASE WHEN n % 10 = 0 THEN 'Thandi ' || n % 5000 ELSE '' END, '[]'
      FROM (SELECT n, now() - n * interval '${SECONDS_BETWEEN_PAYMENTS} seconds' AS at, lpad((n % 10000)::text, 4, '0') AS digits,
                   n % 100 BETWEEN 1 AND 5 AS is_voucher,
                   CASE WHEN n % ${VERIFICATION_SHARE} = 7 THEN 'verificationRequired'
                        WHEN n % 100 BETWEEN 11 AND 18 THEN 'failed' ELSE 'success' END AS state
              FROM generate_series(0, ${payments - 1}) AS n) AS seed ${order}`;
}
