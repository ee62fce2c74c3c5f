import { MAX_NOTIFIED_SITES, type NotifiedSite } from '@svc/contracts';
import { firstUuidAt, isoTime, numberOr0, timeOfUuid } from '@svc/messaging';
import type { DataSource } from 'typeorm';

/**
 * One minute after a webhook was enabled, every replica has read the change. Payments that are accepted after this
 * minute must have a notification.
 */
const EXPECTED_AFTER = `interval '1 minute'`;

const IN_TIME_RANGE = `n.id >= ${firstUuidAt('$1')} AND n.id < ${firstUuidAt('$2')}`;
const ROW_FIELDS = `'rowSiteId', n.site_id, 'rowReference', n.payment_reference, 'rowStatus', n.payment_status`;
const OPEN_COLUMN = `n.state = 'pending' AS open`;

/**
 * The notifications of sessions (E2) in all states, selected by the time in their id. This time is paymentUTCDate. The
 * rows do not contain the message for the payer, because reconciliation compares only amounts and ids.
 */
export const SESSION_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id, n.payment_reference AS key, ${OPEN_COLUMN},
         CASE n.payment_status WHEN 'Success' THEN ${numberOr0("n.fields ->> 'amount'")} ELSE 0 END AS amount,
         (n.fields::jsonb - 'userMessage') || jsonb_build_object('rowSessionId', n.session_id, 'url', n.url, ${ROW_FIELDS}) AS line
    FROM notifications n WHERE ${IN_TIME_RANGE} AND n.recipient = 'session'`;

/**
 * The notifications of sites (M6), selected by the time in their id. This time is paymentUTCDate, createdUTCDate of the
 * refund, the time at which the money of a refund came back, or the time of the change of a dispute. A refund whose money
 * came back has two notifications, so only their ids differ. The book contains only sites whose webhook is enabled now and was enabled at that time, because
 * reconciliation cannot know which notifications the other sites should have.
 */
export const SITE_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id,
         concat_ws('/', n.fields ->> 'paymentReference', CASE WHEN n.type <> 'payment' THEN n.webhook_id END) AS key,
         ${OPEN_COLUMN},
         CASE WHEN n.type = 'payment' AND n.payment_status = 'Success' THEN ${numberOr0("n.fields ->> 'tenderedAmount'")} ELSE 0 END AS amount,
         (n.fields::jsonb - 'customer') || jsonb_build_object('rowType', n.type, ${ROW_FIELDS}) AS line
    FROM notifications n JOIN sites s ON s.site_id = n.site_id AND s.merchant_id = n.merchant_id
   WHERE ${IN_TIME_RANGE} AND n.recipient = 'site'
     AND ${timeOfUuid('n.id')} >= s.notified_since + ${EXPECTED_AFTER} AND s.webhook_enabled`;

/**
 * Sites whose webhook is enabled, ordered by id. From `since` on, every payment of the site must have a notification.
 */
export function listNotifiedSites(db: Pick<DataSource, 'query'>, after = 0): Promise<NotifiedSite[]> {
  return db.query<NotifiedSite[]>(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", ${isoTime(`(notified_since + ${EXPECTED_AFTER})`)} AS since FROM sites
        WHERE webhook_enabled AND site_id > $1 ORDER BY site_id LIMIT ${MAX_NOTIFIED_SITES}`,
    [after],
  );
}
