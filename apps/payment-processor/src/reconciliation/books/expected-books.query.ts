import { firstUuidAt, isoTime } from '@svc/messaging';

/**
 * The statements that compute the expected rows of every book from the tables of payments, refunds, disputes and payables, for
 * {@link ReconciliationReader}. The first parameter after the range is the watermark. A row that became final at or
 * after the watermark is open, so it is not compared.
 *
 * The database computes the rows, because the functions that build the messages would block this process, which also
 * serves payers: for half a second and with 130 MB for the 50 000 payments of an hour, in each book. A test compares the
 * rows of generated payments with these functions.
 */

/** SQL for a JSON object: its members, each with the SQL of its value. */
function jsonObject(members: Readonly<Record<string, string>>): string {
  return `jsonb_build_object(${Object.entries(members)
    .map(([name, sql]) => `'${name}', ${sql}`)
    .join(', ')})`;
}

const COLUMNS = `p.*, y.mode, y.merchant_id, y.site_id, y.amount AS invoiced_amount, y.currency, y.source`;

/** Payments that were accepted in the range. */
const PAYMENTS = `
  SELECT ${COLUMNS}, p.state IN ('success', 'failed') AS final,
         p.state NOT IN ('success', 'failed') OR p.modified_at >= $3::timestamptz AS open
    FROM payments p JOIN payables y ON y.payable_id = p.payable_id
   WHERE p.accepted_at >= $1 AND p.accepted_at < $2`;

/**
 * Refunds that were created in the range, selected by the time in their ids. They are final when they have ended. The
 * notification of a refund whose money came back is separate.
 */
const REFUNDS = `
  SELECT ${COLUMNS}, r.refund_id, r.amount AS refund_amount, r.created_at,
         CASE WHEN r.returned_at IS NULL THEN r.state ELSE 'succeeded' END AS refund_state,
         r.ended_at IS NOT NULL AS final, r.ended_at IS NULL OR r.ended_at >= $3 AS open
    FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE r.refund_id >= ${firstUuidAt('$1')} AND r.refund_id < ${firstUuidAt('$2')}`;

/** Changes of disputes in the range, selected by the time in their ids. Each is final at once. */
const DISPUTES = `
  SELECT ${COLUMNS}, d.dispute_id, c.change_id, c.stage, c.amount AS dispute_amount, c.reason, c.respond_by, d.created_at, c.changed_at,
         c.changed_at >= $3 AS open
    FROM dispute_changes c JOIN disputes d ON d.dispute_id = c.dispute_id
    JOIN payments p ON p.payment_id = d.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE c.change_id >= ${firstUuidAt('$1')} AND c.change_id < ${firstUuidAt('$2')}`;

/** Values of a payment, with the names that several books use. */
const TIMES = { paymentUTCDate: isoTime('accepted_at'), modifiedUTCDate: isoTime('modified_at') };
const AMOUNTS = { invoicedAmount: 'invoiced_amount', amount: 'amount', tipAmount: 'tip_amount' };
const STATUS_TEXT = `CASE state WHEN 'success' THEN 'Success' ELSE 'Failed' END`;
/** The sum of the column `amount` is compared too. A failed payment counts as 0. */
const TENDERED = `CASE state WHEN 'success' THEN amount + tip_amount ELSE 0 END`;

const IS_UUID = `~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'`;
const CUSTOMER = `partner #>> '{partner,customer,id}'`;

const HISTORY_LINE = jsonObject({
  ...TIMES,
  ...AMOUNTS,
  reference: `partner ->> 'reference'`,
  organisationId: `lower(partner #>> '{partner,organisationId}')`,
  customerId: CUSTOMER,
  customerKey: `CASE WHEN ${CUSTOMER} ${IS_UUID} THEN lower(${CUSTOMER}) ELSE ${CUSTOMER} END`,
  state: 'state',
  currency: 'currency',
  processedAmount: 'processed_amount',
  methodType: 'method_type',
  methodLabel: 'method_label',
  errors: 'errors',
  merchantName: 'merchant_name',
  siteReference: 'site_reference',
  invoiceReference: `partner ->> 'invoiceReference'`,
  invoiceExternalReference: `partner ->> 'invoiceExternalReference'`,
  version: 'version',
});

export const EXPECTED_HISTORY = `
  SELECT mode, merchant_id, payment_reference AS key, processed_amount AS amount, open, CASE WHEN final THEN ${HISTORY_LINE} END AS line
    FROM (${PAYMENTS}) AS payment WHERE partner IS NOT NULL`;

/** The members of a payment that merchants see. These expressions must be the same as in `buildMerchantPayment`. */
const MERCHANT_PAYMENT = {
  invoiceReference: `CASE source ->> 'kind' WHEN 'session' THEN source ->> 'sessionId' ELSE source ->> 'invoiceReference' END`,
  invoiceExternalReference: `CASE source ->> 'kind' WHEN 'session' THEN source ->> 'merchantOrderId' ELSE coalesce(source ->> 'externalReference', '') END`,
  currencyISOCode: 'currency',
  invoicedAmount: 'invoiced_amount',
  paymentUTCDate: isoTime('accepted_at'),
  tipAmount: 'tip_amount',
  tenderedAmount: 'amount + tip_amount',
  siteReference: 'site_reference',
  status: `CASE state WHEN 'success' THEN 1 ELSE 2 END`,
  vouchers: `coalesce((SELECT jsonb_agg(jsonb_build_object('merchantLiable', voucher -> 'merchantLiable', 'amount', voucher -> 'amount') ORDER BY nth)
                         FROM jsonb_array_elements(partner -> 'vouchers') WITH ORDINALITY AS each (voucher, nth)), '[]')`,
  siteId: 'site_id',
};

export const EXPECTED_RETRIEVAL = `
  SELECT mode, merchant_id, payment_reference AS key, ${TENDERED} AS amount, open,
         CASE WHEN final THEN ${jsonObject({ ...MERCHANT_PAYMENT, version: 'version' })} END AS line
    FROM (${PAYMENTS}) AS payment`;

/** The body of a notification without the customer's names. It must be the same as in `buildPaymentNotification`. */
const NOTIFICATION = { ...MERCHANT_PAYMENT, paymentReference: 'payment_reference' };
const REFUND = jsonObject({
  refundReference: 'refund_id',
  amount: 'refund_amount',
  status: 'refund_state',
  createdUTCDate: isoTime('created_at'),
});

const DISPUTE = `jsonb_strip_nulls(${jsonObject({
  disputeReference: 'dispute_id',
  stage: 'stage',
  amount: 'dispute_amount',
  reason: 'reason',
  respondByUTCDate: isoTime('respond_by'),
  createdUTCDate: isoTime('created_at'),
})})`;

/** Notifications of payments, refunds, disputes, and of reversals and returned refunds (the fourth parameter, as JSON). */
const NOTIFICATIONS = `
  SELECT mode, merchant_id, site_id, accepted_at AS at, payment_reference, payment_reference AS key, ${STATUS_TEXT} AS status,
         ${TENDERED} AS amount, open, CASE WHEN final THEN ${jsonObject({ ...NOTIFICATION, type: `'payment'` })} END AS line
    FROM (${PAYMENTS}) AS payment
  UNION ALL
  SELECT mode, merchant_id, site_id, created_at, payment_reference, payment_reference || '/' || refund_id, ${STATUS_TEXT},
         0, open, CASE WHEN final THEN ${jsonObject({ ...NOTIFICATION, type: `'refund'`, refund: REFUND })} END
    FROM (${REFUNDS}) AS refund
  UNION ALL
  SELECT mode, merchant_id, site_id, changed_at, payment_reference, payment_reference || '/' || change_id, ${STATUS_TEXT},
         0, open, ${jsonObject({ ...NOTIFICATION, type: `'dispute'`, dispute: DISPUTE })}
    FROM (${DISPUTES}) AS dispute
  UNION ALL
  SELECT mode, "merchantId", "siteId", at, reference, key, status, 0, false, line
    FROM jsonb_to_recordset($4::jsonb) AS reversal (mode text, "merchantId" bigint, "siteId" bigint, at timestamptz, reference text, status text, key text, line jsonb)`;

export const EXPECTED_STREAM = `
  SELECT mode, merchant_id, key, amount, open,
         line || ${jsonObject({ rowType: `line -> 'type'`, rowSiteId: 'site_id' })} AS line
    FROM (${NOTIFICATIONS}) AS notification`;

/** Columns of a notification's row beside its body. */
const ROW = { rowSiteId: 'site_id', rowReference: 'payment_reference' };

/** Notifications for the sites in the fifth parameter, from the time at which the site's webhook was enabled. */
export const EXPECTED_WEBHOOKS = `
  SELECT mode, merchant_id, key, amount, open,
         line || ${jsonObject({ ...ROW, rowType: `line -> 'type'`, rowStatus: 'status' })} AS line
    FROM (${NOTIFICATIONS}) AS notification
    JOIN jsonb_to_recordset($5::jsonb) AS site ("merchantId" bigint, "siteId" bigint, since timestamptz)
      ON site."siteId" = site_id AND site."merchantId" = merchant_id AND at >= site.since`;

const SESSION_NOTIFICATION_LINE = jsonObject({
  ...ROW,
  sessionId: `source ->> 'sessionId'`,
  amount: 'amount',
  currencyISOCode: 'currency',
  merchantOrderId: `source ->> 'merchantOrderId'`,
  paymentReference: 'payment_reference',
  paymentStatus: STATUS_TEXT,
  paymentUTCDate: isoTime('accepted_at'),
  status: `'Success'`,
  url: `source ->> 'notificationUrl'`,
  rowSessionId: `lower(source ->> 'sessionId')`,
  rowStatus: STATUS_TEXT,
});

export const EXPECTED_NOTIFICATIONS = `
  SELECT mode, merchant_id, payment_reference AS key, CASE state WHEN 'success' THEN amount ELSE 0 END AS amount, open,
         CASE WHEN final THEN ${SESSION_NOTIFICATION_LINE} END AS line
    FROM (${PAYMENTS}) AS payment WHERE source ->> 'kind' = 'session'`;

const SESSION_LINE = jsonObject({
  ...TIMES,
  ...AMOUNTS,
  paymentReference: 'payment_reference',
  reference: `lower(coalesce(partner ->> 'reference', reference::text))`,
  sessionId: `source ->> 'sessionId'`,
  state: 'state',
  siteId: 'site_id',
  processedAmount: 'processed_amount',
  currencyISOCode: 'currency',
  paymentMethodType: 'method_type',
  paymentMethodLabel: 'method_label',
  errors: 'errors',
  rowSessionId: `lower(source ->> 'sessionId')`,
  rowUTCDate: isoTime('accepted_at'),
});

export const EXPECTED_SESSIONS = `
  SELECT mode, merchant_id, payment_reference AS key, processed_amount AS amount, open, CASE WHEN final THEN ${SESSION_LINE} END AS line
    FROM (${PAYMENTS}) AS payment WHERE source ->> 'kind' = 'session'`;
