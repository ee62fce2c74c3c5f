import { isoTime, numberOr0 } from '@svc/messaging';

const MEMBERS = [
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

/** Results of final payments of sessions, by paymentUTCDate. */
export const SESSIONS_BOOK = `
  SELECT snapshot ->> 'mode' AS mode, ${numberOr0("snapshot ->> 'merchantId'")} AS merchant_id, payment_reference AS key,
         ${numberOr0("snapshot ->> 'processedAmount'")} AS amount, false AS open,
         jsonb_build_object(
           'paymentReference', snapshot -> 'paymentReference', 'reference', lower(snapshot ->> 'reference'),
           'sessionId', snapshot #> '{source,sessionId}', 'rowSessionId', session_id, 'rowUTCDate', ${isoTime('accepted_at')},
           ${MEMBERS.map((name) => `'${name}', snapshot -> '${name}'`).join(', ')}) AS line
    FROM hosted_payments
   WHERE accepted_at >= $1 AND accepted_at < $2 AND snapshot ->> 'state' IN ('success', 'failed')`;
