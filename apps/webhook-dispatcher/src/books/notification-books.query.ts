import { DIGESTS_MAX, type NotifiedSite } from '@svc/contracts';
import { isoTime, numberOr0, timeOfUuid, uuidFrom } from '@svc/messaging';
import type { DataSource } from 'typeorm';

/** A payment that is accepted this much later than the webhook was enabled is notified by every replica. */
const ENABLED_FOR = `interval '1 minute'`;

const OF_RANGE = `n.id >= ${uuidFrom('$1')} AND n.id < ${uuidFrom('$2')}`;
const ROW = `'rowSiteId', n.site_id, 'rowReference', n.payment_reference, 'rowStatus', n.payment_status`;
const OPEN = `n.state = 'pending' AS open`;

/**
 * Notifications of sessions (E2) by the time in their id, which is paymentUTCDate; in whatever state, since a superseded one
 * stays. The message for the payer is left out: it is neither money nor identity.
 */
export const SESSION_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id, n.payment_reference AS key, ${OPEN},
         CASE n.payment_status WHEN 'Success' THEN ${numberOr0("n.fields ->> 'amount'")} ELSE 0 END AS amount,
         (n.fields - 'userMessage') || jsonb_build_object('rowSessionId', n.session_id, 'url', n.url, ${ROW}) AS line
    FROM notifications n WHERE ${OF_RANGE} AND n.recipient = 'session'`;

/**
 * Notifications of sites (M6) by the time in their id: paymentUTCDate, or createdUTCDate of the refund. Only of sites whose
 * webhook is enabled, and was then: of others nobody can say what should be there.
 */
export const SITE_NOTIFICATIONS_BOOK = `
  SELECT n.mode, n.merchant_id, concat_ws('/', n.fields ->> 'paymentReference', n.fields #>> '{refund,refundReference}') AS key,
         ${OPEN},
         CASE WHEN n.type = 'payment' AND n.payment_status = 'Success' THEN ${numberOr0("n.fields ->> 'tenderedAmount'")} ELSE 0 END AS amount,
         (n.fields - 'customer') || jsonb_build_object('rowType', n.type, ${ROW}) AS line
    FROM notifications n JOIN sites s ON s.site_id = n.site_id AND s.merchant_id = n.merchant_id
   WHERE ${OF_RANGE} AND n.recipient = 'site' AND s.webhook_enabled
     AND ${timeOfUuid('n.id')} >= s.notified_since + ${ENABLED_FOR}`;

/** Sites whose webhook is enabled, and since when every payment is notified; in the order of their ids. */
export function listNotifiedSites(db: Pick<DataSource, 'query'>, after = 0): Promise<NotifiedSite[]> {
  return db.query<NotifiedSite[]>(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", ${isoTime(`(notified_since + ${ENABLED_FOR})`)} AS since FROM sites
        WHERE webhook_enabled AND notified_since IS NOT NULL AND site_id > $1 ORDER BY site_id LIMIT ${DIGESTS_MAX}`,
    [after],
  );
}
