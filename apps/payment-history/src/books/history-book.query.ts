import { isoTime } from '@svc/messaging';
import { SERVING_GENERATION } from '../payments/payment.repository.js';

/**
 * The final payments, selected by paymentUTCDate. The rows do not contain names of customers, because reconciliation
 * compares only amounts and ids.
 */
export const HISTORY_BOOK = `
  SELECT mode, merchant_id, payment_reference AS key, processed_amount AS amount, false AS open,
         jsonb_build_object(
           'reference', reference, 'organisationId', organisation_id, 'customerId', customer_id,
           'customerKey', customer_key, 'state', state, 'currency', currency, 'invoicedAmount', invoiced_amount, 'amount', amount,
           'tipAmount', tip_amount, 'processedAmount', processed_amount, 'paymentUTCDate', ${isoTime('payment_utc_date')},
           'modifiedUTCDate', ${isoTime('modified_utc_date')}, 'methodType', method_type, 'methodLabel', method_label,
           'errors', errors, 'merchantName', merchant_name, 'siteReference', site_reference,
           'invoiceReference', invoice_reference, 'invoiceExternalReference', invoice_external_reference, 'version', version) AS line
    FROM payments
   WHERE generation = ${SERVING_GENERATION} AND payment_utc_date >= $1 AND payment_utc_date < $2 AND state IN ('success', 'failed')`;
