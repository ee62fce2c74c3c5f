import { firstUuidAt, isoTime, numberOr0 } from '@svc/messaging';
import { CHANGING_COLUMNS } from '../payments/payment.repository.js';

const { firstName: _, lastName: __, ...COMPARED_COLUMNS } = CHANGING_COLUMNS;
const COMPARED = Object.entries(COMPARED_COLUMNS)
  .map(([property, [column]]) => `'${property}', ${column}`)
  .join(', ');

/**
 * The final payments, selected by paymentUTCDate. `open` is false, because this service stores only final payments. The
 * rows do not contain names of customers, because reconciliation compares only amounts and ids.
 */
export const RETRIEVAL_BOOK = `
  SELECT mode, merchant_id, payment_reference AS key, CASE status WHEN 1 THEN tendered_amount ELSE 0 END AS amount, false AS open,
         jsonb_build_object('siteId', site_id, 'paymentUTCDate', ${isoTime('payment_utc_date')}, 'version', version, ${COMPARED}) AS line
    FROM payments
   WHERE generation = (SELECT generation FROM generations WHERE state = 'serving')
     AND payment_utc_date >= $1 AND payment_utc_date < $2`;

/**
 * The notifications, selected by the time in their id. This time is paymentUTCDate, createdUTCDate of the refund, the
 * time at which the money of a refund came back, or the time of the change of a dispute. A refund whose money came back
 * has two notifications, so only their ids differ.
 */
export const STREAM_BOOK = `
  SELECT mode, merchant_id, concat_ws('/', json ->> 'paymentReference', CASE WHEN type <> 'payment' THEN notification_id END) AS key,
         CASE WHEN type = 'payment' AND json ->> 'status' = '1' THEN ${numberOr0("json ->> 'tenderedAmount'")} ELSE 0 END AS amount,
         false AS open, (json - 'customer') || jsonb_build_object('rowType', type, 'rowSiteId', site_id) AS line
    FROM (SELECT notification_id, mode, merchant_id, site_id, type, notification_json(body) AS json FROM notifications
           WHERE notification_id >= ${firstUuidAt('$1')} AND notification_id < ${firstUuidAt('$2')}) AS notification`;
