import {
  type CountUndelivered,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryOwner,
  type DeliveryPage,
  type DeliveryRequest,
  type DeliveryWithAttempts,
  type ListDeliveries,
  MAX_UNDELIVERED_COUNT,
  type TracedDelivery,
  type UndeliveredCount,
} from '@svc/contracts';
import { DomainError, findTraceId, firstUuidAt, isUuid } from '@svc/kernel';
import { isoTime } from '@svc/messaging';
import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { NOTIFICATION } from '../notifications/columns.js';
import { FIRST_ID, LAST_ID, selectInAnyState } from '../notifications/list-notifications.query.js';
import { withPublicErrorClass } from './public-error-class.js';

const PAGE_SIZE = 50;
const MAX_ATTEMPTS = 100;
const MAX_LISTED_RESPONSE_LENGTH = 200;

const attemptJsonSql = (
  response: string,
): string => `json_build_object('attemptNumber', a.attempt_number, 'startedUTCDate', ${isoTime('a.started_at')},
  'durationMs', a.duration_ms, 'outcome', a.outcome, 'statusCode', a.status_code, 'errorClass', a.error_class, 'hint', a.hint, 'response', ${response})`;

const { id, webhookId, recipient, type, sessionId, paymentReference, paymentStatus, url } = NOTIFICATION;
const DELIVERY = { id, webhookId, recipient, type, sessionId, paymentReference, paymentStatus, url };

/** @param now parameter of the current time. An open circuit delays notifications that are due. */
const selectDeliveries = (now: string, moreColumns = ''): string => `
  SELECT ${selectedColumns(DELIVERY)},
         n.state, n.attempt_count AS "attemptCount",
         ${isoTime('n.created_at')} AS "createdUTCDate", ${isoTime('n.delivered_at')} AS "deliveredUTCDate",
         CASE WHEN n.leased_until > ${now} THEN NULL ELSE ${isoTime('greatest(n.next_attempt_at, CASE WHEN n.next_attempt_at IS NOT NULL THEN c.open_until END)')} END AS "nextAttemptUTCDate",
         n.missing_keys AS "missingKeys",
         CASE WHEN a.attempt_number IS NOT NULL THEN ${attemptJsonSql(`left(a.response, ${MAX_LISTED_RESPONSE_LENGTH})`)} END AS "lastAttempt"${moreColumns}
    FROM notifications n
    LEFT JOIN circuits c ON c.merchant_id = n.merchant_id AND c.endpoint = n.endpoint
    LEFT JOIN delivery_attempts a ON a.notification_id = n.id AND a.attempt_number = n.attempt_count`;

/** $1 merchant, $2 site, $3 mode, $4 current time. */
const SELECT_DELIVERIES = `${selectDeliveries('$4')}
   WHERE n.merchant_id = $1 AND n.site_id = $2 AND n.mode = $3`;

/** $1 ids, $2 current time. */
const TRACE_DELIVERIES = `${selectDeliveries(
  '$2',
  `, n.traceparent,
         COALESCE((SELECT json_agg(${attemptJsonSql(`left(a.response, ${MAX_LISTED_RESPONSE_LENGTH})`)} ORDER BY a.attempt_number DESC)
                     FROM (SELECT * FROM delivery_attempts t WHERE t.notification_id = n.id
                            ORDER BY t.attempt_number DESC LIMIT ${MAX_ATTEMPTS}) a), '[]'::json) AS attempts`,
)}
   WHERE n.id = ANY ($1::uuid[]) ORDER BY n.created_at, n.id`;

/**
 * Lists the deliveries of a site, the newest first. The caller has validated the values of the filter. Ids are ordered by the time of the payment, so the index scan of a
 * page begins at `after` or `until`, and ends at `from`. Therefore every page costs the same.
 */
export async function listDeliveries(
  dataSource: DataSource,
  now: Date,
  { owner, state, after, from, until }: ListDeliveries,
): Promise<DeliveryPage> {
  const isLimited = after !== undefined || from !== undefined || until !== undefined;
  const first = from === undefined ? FIRST_ID : firstUuidAt(new Date(from));
  const last = [after ?? LAST_ID, until === undefined ? LAST_ID : firstUuidAt(new Date(until))].sort()[0]!;
  // Without a lower limit of the id, PostgreSQL estimates that a third of the rows match, and sorts them.
  const page = isLimited ? `${SELECT_DELIVERIES} AND n.id >= $5 AND n.id < $6` : SELECT_DELIVERIES;
  const order = `ORDER BY id DESC LIMIT ${PAGE_SIZE + 1}`;
  const rows = await dataSource.query<Delivery[]>(
    // The caller has validated `state`.
    state === undefined ? selectInAnyState(page, order) : `${page} AND n.state = '${state}' ${order}`,
    [...ownerParameters(owner), now, ...(isLimited ? [first, last] : [])],
  );
  const deliveries = rows.slice(0, PAGE_SIZE).map(withPublicError);
  const hasMore = rows.length > PAGE_SIZE;
  return { deliveries, hasMore, ...(hasMore ? { after: deliveries.at(-1)!.id } : {}) };
}

/**
 * Reads a delivery with its attempts. Throws `resource.not-found` for an unknown or invalid id, and for a delivery of
 * another owner.
 */
export async function getDelivery(
  dataSource: DataSource,
  now: Date,
  { owner, id }: DeliveryRequest,
): Promise<DeliveryWithAttempts> {
  const [found] = isUuid(id)
    ? await dataSource.query<Delivery[]>(`${SELECT_DELIVERIES} AND n.id = $5`, [...ownerParameters(owner), now, id])
    : [];
  if (!found) throw new DomainError('resource.not-found', { message: 'There is no such delivery.' });
  const rows = await dataSource.query<{ attempt: DeliveryAttempt }[]>(
    `SELECT ${attemptJsonSql('a.response')} AS attempt FROM delivery_attempts a
      WHERE a.notification_id = $1 ORDER BY a.attempt_number DESC LIMIT ${MAX_ATTEMPTS}`,
    [id],
  );
  return { ...withPublicError(found), attempts: rows.map(({ attempt }) => withPublicErrorClass(attempt)) };
}

/** $1 merchant, $2 mode, $3 sites, $4 first id of the time. Each count reads a range of an index, and stops at the limit. */
const COUNT_UNDELIVERED = `
  SELECT s.site_id AS "siteId", s.state,
         (SELECT count(*) FROM (SELECT FROM notifications n
                                 WHERE n.merchant_id = $1 AND n.site_id = s.site_id AND n.mode = $2 AND n.state = s.state
                                   AND n.state IN ('superseded', 'exhausted', 'gone') AND n.id >= $4
                                 LIMIT ${MAX_UNDELIVERED_COUNT}) given_up) AS count
    FROM (SELECT site_id, state FROM unnest($3::bigint[]) AS site_id CROSS JOIN unnest('{exhausted,gone}'::text[]) AS state) s`;

/** Counts the webhooks of each site that were given up. */
export async function countUndelivered(
  dataSource: DataSource,
  { merchantId, mode, siteIds, from }: CountUndelivered,
): Promise<UndeliveredCount[]> {
  const first = firstUuidAt(new Date(from));
  const rows = await dataSource.query<UndeliveredCount[]>(COUNT_UNDELIVERED, [merchantId, mode, siteIds, first]);
  return rows.filter(({ count }) => count > 0);
}

/**
 * Reads deliveries of any merchant with their attempts, for operators, who may see the original class of an error. Ids of
 * deliveries that do not exist are skipped. Responses are as short as in a list, because there may be hundreds of them.
 */
export async function traceDeliveries(
  dataSource: DataSource,
  now: Date,
  ids: readonly string[],
): Promise<TracedDelivery[]> {
  type Row = Omit<TracedDelivery, 'traceId'> & { readonly traceparent: string | null };
  const rows = await dataSource.query<Row[]>(TRACE_DELIVERIES, [ids, now]);
  return rows.map(({ traceparent, ...delivery }) => ({ ...delivery, traceId: findTraceId(traceparent) }));
}

function withPublicError(delivery: Delivery): Delivery {
  const { lastAttempt } = delivery;
  return lastAttempt ? { ...delivery, lastAttempt: withPublicErrorClass(lastAttempt) } : delivery;
}

function ownerParameters({ merchantId, siteId, mode }: DeliveryOwner): unknown[] {
  return [merchantId, siteId, mode];
}
