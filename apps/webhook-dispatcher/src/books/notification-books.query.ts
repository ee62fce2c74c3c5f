import { MAX_DIGESTS, type NotifiedSite } from '@svc/contracts';
import { firstUuidAt, isoTime, numberOr0, timeOfUuid } from '@svc/messaging';
import type { DataSource } from 'typeorm';

/** Every replica notifies payments that are accepted at least this long after the webhook was enabled. */
const ENABLED_FOR = `interval '1 minute'`;

const OF_RANGE = `n.id >= ${firstUuidAt('$1')} AND n.id < ${firstUuidAt('$2')}`;
const ROW = `'rowSiteId', n.site_id, 'rowReference', n.payment_reference, 'rowStatus', n.payment_status`;
const OPEN = `n.state = 'pending' AS open`;

/**
 * Notifications of sessions (E2) by the time in their id, which is paymentUTCDate, in all states. Without the message for the
 * payer, which is neither money nor identity.
 */
export const SESSION_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id, n.payment_reference AS key, ${OPEN},
         CASE n.payment_status WHEN 'Success' THEN ${numberOr0("n.fields ->> 'amount'")} ELSE 0 END AS amount,
         (n.fields - 'userMessage') || jsonb_build_object('rowSessionId', n.session_id, 'url', n.url, ${ROW}) AS line
    FROM notifications n WHERE ${OF_RANGE} AND n.recipient = 'session'`;

/**
 * Notifications of sites (M6) by the time in their id: paymentUTCDate, or createdUTCDate of the refund. Only of sites whose
 * webhook is enabled and was enabled at that time: for others the expected notifications are unknown.
 */
export const SITE_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id, concat_ws('/', n.fields ->> 'paymentReference', n.fields #>> '{refund,refundReference}') AS key,
         ${OPEN},
         CASE WHEN n.type = 'payment' AND n.payment_status = 'Success' THEN ${numberOr0("n.fields ->> 'tenderedAmount'")} ELSE 0 END AS amount,
         (n.fields - 'customer') || jsonb_build_object('rowType', n.type, ${ROW}) AS line
    FROM notifications n JOIN sites s ON s.site_id = n.site_id AND s.merchant_id = n.merchant_id
   WHERE ${OF_RANGE} AND n.recipient = 'site' AND s.webhook_enabled
     AND ${timeOfUuid('n.id')} >= s.notified_since + ${ENABLED_FOR}`;

/** Sites whose webhook is enabled, with the time from which on every payment is notified; ordered by id. */
export function listNotifiedSites(db: Pick<DataSource, 'query'>, after = 0): Promise<NotifiedSite[]> {
  return db.query<NotifiedSite[]>(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", ${isoTime(`(notified_since + ${ENABLED_FOR})`)} AS since FROM sites
        WHERE webhook_enabled AND notified_since IS NOT NULL AND site_id > $1 ORDER BY site_id LIMIT ${MAX_DIGESTS}`,
    [after],
  );
}
