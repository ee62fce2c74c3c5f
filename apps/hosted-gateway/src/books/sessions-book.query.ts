import { isoTime, numberOr0 } from '@svc/messaging';

/** Fields of the payment snapshot that reconciliation compares. */
const FIELDS = [
  ...[
    'state',
    'siteId',
    'amount',
    'tipAmount',
    'invoicedAmount',
    'processedAmount',
    'currencyISOCode',
    'paymentUTCDate',
  ],
  ...['modifiedUTCDate', 'paymentMethodType', 'paymentMethodLabel', 'errors'],
];

/**
 * Selects the final payments of sessions that were accepted from $1 until before $2, with the columns that
 * reconciliation compares.
 */
export const SESSIONS_BOOK = `
  SELECT snapshot ->> 'mode' AS mode, ${numberOr0("snapshot ->> 'merchantId'")} AS merchant_id, payment_reference AS key,
         ${numberOr0("snapshot ->> 'processedAmount'")} AS amount, false AS open,
         jsonb_build_object(
           'paymentReference', snapshot -> 'paymentReference', 'reference', lower(snapshot ->> 'reference'),
           'sessionId', snapshot #> '{source,sessionId}', 'rowSessionId', session_id, 'rowUTCDate', ${isoTime('accepted_at')},
           ${FIELDS.map((name) => `'${name}', snapshot -> '${name}'`).join(', ')}) AS line
    FROM hosted_payments
   WHERE accepted_at >= $1 AND accepted_at < $2 AND snapshot ->> 'state' IN ('success', 'failed')`;
