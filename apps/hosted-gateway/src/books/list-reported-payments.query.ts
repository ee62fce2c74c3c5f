import type { ReportedPayment } from '@svc/contracts';
import type { DataSource } from 'typeorm';

/**
 * The successful payments with these references, of sessions and of invoices, without a check of their owner: only
 * payment-processor asks, which has created them.
 */
export function listReportedPayments(
  db: Pick<DataSource, 'query'>,
  paymentReferences: readonly string[],
): Promise<ReportedPayment[]> {
  return db.query(REPORTED_PAYMENTS, [paymentReferences]);
}

const REPORTED_PAYMENTS = `
  SELECT payment_reference AS "paymentReference", snapshot ->> 'reference' AS reference, snapshot ->> 'mode' AS mode,
         (snapshot ->> 'merchantId')::bigint AS "merchantId", (snapshot ->> 'siteId')::bigint AS "siteId",
         snapshot #>> '{payable,payableId}' AS "payableId", (snapshot #>> '{payable,version}')::bigint AS "payableVersion",
         (snapshot #>> '{payable,paymentCount}')::int AS "paymentCount", (snapshot ->> 'invoicedAmount')::bigint AS "invoicedAmount",
         snapshot ->> 'currencyISOCode' AS "currencyISOCode", (snapshot ->> 'amount')::bigint AS amount,
         (snapshot ->> 'tipAmount')::bigint AS "tipAmount", snapshot ->> 'paymentMethodLabel' AS "paymentMethodLabel",
         snapshot ->> 'paymentUTCDate' AS "paymentUTCDate"
    FROM (SELECT payment_reference, snapshot FROM hosted_payments WHERE payment_reference = ANY ($1)
          UNION ALL
          SELECT payment_reference, snapshot FROM invoice_payments WHERE payment_reference = ANY ($1)) AS copy
   WHERE snapshot ->> 'state' = 'success' AND snapshot ->> 'partner' IS NULL`;
