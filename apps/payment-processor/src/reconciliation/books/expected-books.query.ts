import { firstUuidAt, isoTime } from '@svc/messaging';

/**
 * The statements that compute the expected rows of every book from the tables of payments, refunds and payables, for
 * {@link ReconciliationReader}. The first parameter after the range is the watermark. A row that became final at or
 * after the watermark is open, so it is not compared.
 */

const COLUMNS = `p.payment_reference, p.reference, p.state, p.amount, p.tip_amount, p.processed_amount, p.method_type, p.method_label,
  p.errors, p.version, p.partner, p.accepted_at, p.modified_at, y.mode, y.merchant_id, y.site_id, y.amount AS invoiced_amount,
  y.currency, y.source, coalesce(p.partner ->> 'siteReference', p.site_reference, '') AS site_reference`;

/** Payments that were accepted in the range. */
const PAYMENTS = `
  SELECT ${COLUMNS}, p.state IN ('success', 'failed') AS final,
         p.state NOT IN ('success', 'failed') OR p.modified_at >= $3::timestamptz AS open
    FROM payments p JOIN payables y ON y.payable_id = p.payable_id
   WHERE p.accepted_at >= $1 AND p.accepted_at < $2`;

const IS_UUID = `~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'`;
const CUSTOMER = `partner #>> '{partner,customer,id}'`;

export const EXPECTED_HISTORY = `
  SELECT mode, merchant_id, payment_reference AS key, processed_amount AS amount, open,
         CASE WHEN final THEN jsonb_build_object(
           'reference', partner ->> 'reference', 'organisationId', lower(partner #>> '{partner,organisationId}'),
           'customerId', ${CUSTOMER}, 'customerKey', CASE WHEN ${CUSTOMER} ${IS_UUID} THEN lower(${CUSTOMER}) ELSE ${CUSTOMER} END,
           'state', state, 'currency', currency, 'invoicedAmount', invoiced_amount, 'amount', amount, 'tipAmount', tip_amount,
           'processedAmount', processed_amount, 'paymentUTCDate', ${isoTime('accepted_at')},
           'modifiedUTCDate', ${isoTime('modified_at')}, 'methodType', method_type, 'methodLabel', method_label, 'errors', errors,
           'merchantName', partner ->> 'merchantName', 'siteReference', partner ->> 'siteReference',
           'invoiceReference', partner ->> 'invoiceReference', 'invoiceExternalReference', partner ->> 'invoiceExternalReference',
           'version', version) END AS line
    FROM (${PAYMENTS}) AS payment WHERE partner IS NOT NULL`;

/** These expressions must be the same as in `buildMerchantPayment`. */
const INVOICE_REFERENCE = `CASE source ->> 'kind' WHEN 'session' THEN source ->> 'sessionId' ELSE source ->> 'invoiceReference' END`;
const EXTERNAL_REFERENCE = `CASE source ->> 'kind' WHEN 'session' THEN source ->> 'merchantOrderId' ELSE coalesce(source ->> 'externalReference', '') END`;
const STATUS = `CASE state WHEN 'success' THEN 1 ELSE 2 END`;
const STATUS_TEXT = `CASE state WHEN 'success' THEN 'Success' ELSE 'Failed' END`;
const TENDERED = `CASE state WHEN 'success' THEN amount + tip_amount ELSE 0 END`;
const VOUCHERS = `coalesce((SELECT jsonb_agg(jsonb_build_object('merchantLiable', voucher -> 'merchantLiable', 'amount', voucher -> 'amount') ORDER BY nth)
                              FROM jsonb_array_elements(partner -> 'vouchers') WITH ORDINALITY AS each (voucher, nth)), '[]')`;

export const EXPECTED_RETRIEVAL = `
  SELECT mode, merchant_id, payment_reference AS key, ${TENDERED} AS amount, open,
         CASE WHEN final THEN jsonb_build_object(
           'siteId', site_id, 'status', ${STATUS}, 'invoiceReference', ${INVOICE_REFERENCE},
           'invoiceExternalReference', ${EXTERNAL_REFERENCE}, 'currencyISOCode', currency, 'invoicedAmount', invoiced_amount,
           'tipAmount', tip_amount, 'tenderedAmount', amount + tip_amount, 'siteReference', site_reference, 'vouchers', ${VOUCHERS},
           'paymentUTCDate', ${isoTime('accepted_at')}, 'version', version) END AS line
    FROM (${PAYMENTS}) AS payment`;

/** The body of a notification without the customer's names. The body must be the same as in `buildPaymentNotification`. */
const NOTIFICATION = `jsonb_build_object(
           'invoiceReference', ${INVOICE_REFERENCE}, 'invoiceExternalReference', ${EXTERNAL_REFERENCE}, 'currencyISOCode', currency,
           'invoicedAmount', invoiced_amount, 'paymentReference', payment_reference, 'paymentUTCDate', ${isoTime('accepted_at')},
           'tipAmount', tip_amount, 'tenderedAmount', amount + tip_amount,
           'siteReference', site_reference,
           'status', ${STATUS}, 'vouchers', ${VOUCHERS}, 'siteId', site_id)`;

const REFUND_NOTIFICATION = `jsonb_build_object('type', 'refund', 'refund', jsonb_build_object(
           'refundReference', refund_id, 'amount', refund_amount, 'status', refund_state, 'createdUTCDate', ${isoTime('created_at')}))`;

/**
 * Notifications of payments, of refunds (selected by the time in their ids) and of reversals (the fourth parameter, as JSON).
 */
const NOTIFICATIONS = `
  SELECT mode, merchant_id, site_id, accepted_at AS at, payment_reference, payment_reference AS key, ${STATUS_TEXT} AS status,
         ${TENDERED} AS amount, open, CASE WHEN final THEN ${NOTIFICATION} || '{"type": "payment"}' END AS line
    FROM (${PAYMENTS}) AS owned
  UNION ALL
  SELECT mode, merchant_id, site_id, created_at, payment_reference, payment_reference || '/' || refund_id, ${STATUS_TEXT}, 0,
         ended_at IS NULL OR ended_at >= $3, CASE WHEN ended_at IS NOT NULL THEN ${NOTIFICATION} || ${REFUND_NOTIFICATION} END
    FROM (SELECT ${COLUMNS}, r.refund_id, r.amount AS refund_amount, r.state AS refund_state, r.created_at, r.ended_at
            FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
           WHERE r.refund_id >= ${firstUuidAt('$1')} AND r.refund_id < ${firstUuidAt('$2')}) AS owned
  UNION ALL
  SELECT mode, "merchantId", "siteId", at, reference, key, 'Failed', 0, false, line
    FROM jsonb_to_recordset($4::jsonb) AS reversal (mode text, "merchantId" bigint, "siteId" bigint, at timestamptz, reference text, key text, line jsonb)`;

export const EXPECTED_STREAM = `
  SELECT mode, merchant_id, key, amount, open, line || jsonb_build_object('rowType', line -> 'type', 'rowSiteId', site_id) AS line
    FROM (${NOTIFICATIONS}) AS notification`;

/** Notifications for the sites in the fifth parameter, from the time at which the site's webhook was enabled. */
export const EXPECTED_WEBHOOKS = `
  SELECT notification.mode, notification.merchant_id, notification.key, notification.amount, notification.open,
         line || jsonb_build_object('rowType', line -> 'type', 'rowSiteId', notification.site_id, 'rowReference', payment_reference, 'rowStatus', status) AS line
    FROM (${NOTIFICATIONS}) AS notification
    JOIN jsonb_to_recordset($5::jsonb) AS site ("merchantId" bigint, "siteId" bigint, since timestamptz)
      ON site."siteId" = notification.site_id AND site."merchantId" = notification.merchant_id AND notification.at >= site.since`;

export const EXPECTED_NOTIFICATIONS = `
  SELECT mode, merchant_id, payment_reference AS key, CASE state WHEN 'success' THEN amount ELSE 0 END AS amount, open,
         CASE WHEN final THEN jsonb_build_object(
           'sessionId', source ->> 'sessionId', 'amount', amount, 'currencyISOCode', currency,
           'merchantOrderId', source ->> 'merchantOrderId', 'paymentReference', payment_reference, 'paymentStatus', ${STATUS_TEXT},
           'paymentUTCDate', ${isoTime('accepted_at')}, 'status', 'Success', 'rowSessionId', lower(source ->> 'sessionId'),
           'url', source ->> 'notificationUrl', 'rowSiteId', site_id, 'rowReference', payment_reference, 'rowStatus', ${STATUS_TEXT}) END AS line
    FROM (${PAYMENTS}) AS payment WHERE source ->> 'kind' = 'session'`;

export const EXPECTED_SESSIONS = `
  SELECT mode, merchant_id, payment_reference AS key, processed_amount AS amount, open,
         CASE WHEN final THEN jsonb_build_object(
           'paymentReference', payment_reference, 'reference', lower(coalesce(partner ->> 'reference', reference::text)),
           'sessionId', source ->> 'sessionId', 'rowSessionId', lower(source ->> 'sessionId'), 'rowUTCDate', ${isoTime('accepted_at')},
           'state', state, 'siteId', site_id, 'amount', amount, 'tipAmount', tip_amount, 'invoicedAmount', invoiced_amount,
           'processedAmount', processed_amount, 'currencyISOCode', currency, 'paymentUTCDate', ${isoTime('accepted_at')},
           'modifiedUTCDate', ${isoTime('modified_at')}, 'paymentMethodType', method_type, 'paymentMethodLabel', method_label,
           'errors', errors) END AS line
    FROM (${PAYMENTS}) AS payment WHERE source ->> 'kind' = 'session'`;
