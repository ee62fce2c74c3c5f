import type { HostedApiVersion, Mode, PaymentNotification, PaymentStatusText } from '@svc/contracts';
import { invalidField, isNumericId, isUuid } from '@svc/kernel';
import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { SigningPurpose } from '../signing-secrets/find-signing-secrets.query.js';
import { NOTIFICATION } from './columns.js';
import { NOTIFICATION_STATES, type NotificationState, type Recipient } from './notification.js';

/** A notification, for administrators. Times are ISO 8601 UTC with milliseconds (C2). */
export interface NotificationSummary {
  /**
   * UUID.
   * @schema uuid
   */
  id: string;
  /** The `webhook-id` of every attempt (E8). If the recipient is a session, it is the same as `id`. */
  webhookId: string;
  /** `session`: the notificationUrl of a session (E2). `site`: the webhook of a site (M6). */
  recipient: Recipient;
  /** Only a site receives notifications of the types `refund` and `dispute`. */
  type: PaymentNotification['type'];
  merchantId: number;
  siteId: number;
  mode: Mode;
  /** Null if the recipient is a site. */
  sessionId: string | null;
  /** Service payment id, 18 characters (C3). */
  paymentReference: string;
  paymentStatus: PaymentStatusText;
  /** The merchant's own reference: `merchantOrderId` of a session, `externalReference` of an invoice. Null if there is none. */
  orderId: string | null;
  /** Null if the recipient is a site. */
  apiVersion: HostedApiVersion | null;
  url: string;
  state: NotificationState;
  /** Number of attempts so far, including attempts before a replay. */
  attemptCount: number;
  /**
   * The time at which the notification is due. While the notification is being sent, the end of its lease. Null if the
   * notification is not pending.
   */
  nextAttemptAt: string | null;
  createdAt: string;
  /** Time at which the endpoint last acknowledged the notification. */
  deliveredAt: string | null;
  /** Time since which the notification waits for missing signing keys. Null after the notification was signed. */
  unsignedSince: string | null;
  /** The kinds of keys that are missing. Null after the notification was signed. */
  missingKeys: readonly SigningPurpose[] | null;
}

/** A notification of a list, with the result of its last attempt. */
export interface ListedNotification extends NotificationSummary {
  /** Null before the first attempt. */
  lastAttempt: {
    /** Null if the endpoint did not respond: see errorClass. */
    statusCode: number | null;
    /** e.g. `timeout`, `connection-refused`, `address-refused:private`. */
    errorClass: string | null;
    /** Advice if the response is probably a mistake of the endpoint: an HTML page, or a redirect. */
    hint: string | null;
  } | null;
}

export interface NotificationPage {
  /** Newest first, at most 50. */
  notifications: ListedNotification[];
  /** Pass this id as `after` to read the next page. Null on the last page. */
  after: string | null;
}

/** Query of the list. Every parameter is optional and may occur only once. */
export interface NotificationQuery {
  /** One of the states. */
  readonly state?: unknown;
  readonly merchantId?: unknown;
  /** UUID. */
  readonly sessionId?: unknown;
  /** `true`: only notifications that cannot be signed. */
  readonly unsigned?: unknown;
  /** UUID of a notification: only older notifications are listed. */
  readonly after?: unknown;
}

const PAGE_SIZE = 50;
/** Smaller than every id: the lower limit of a range of ids. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Larger than every id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const { endpoint: _endpoint, fields: _fields, traceparent: _traceparent, ...SUMMARY } = NOTIFICATION;
export const SUMMARY_COLUMNS = `${selectedColumns(SUMMARY)}, state, attempt_count AS "attemptCount",
  CASE WHEN state = 'pending' THEN greatest(next_attempt_at, leased_until) END AS "nextAttemptAt", created_at AS "createdAt", delivered_at AS "deliveredAt",
  unsigned_since AS "unsignedSince", missing_keys AS "missingKeys",
  nullif(coalesce(fields->>'merchantOrderId', fields->>'invoiceExternalReference'), '') AS "orderId"`;

/**
 * SQL for a page of notifications in any state, for one merchant or site. The indexes of a merchant or site contain
 * either the pending notifications or all others, so that a new notification is written into only one of them. Each part
 * reads at most the rows of a page from its index.
 *
 * @param select a SELECT of notifications with the table alias `n`, which ends with a condition
 * @param order the order by the column `id` of the SELECT, and the limit
 */
export function selectInAnyState(select: string, order: string): string {
  return `SELECT * FROM (
      (${select} AND n.state = 'pending' ${order}) UNION ALL (${select} AND n.state <> 'pending' ${order})) AS either ${order}`;
}

/**
 * Ids are ordered by the time of the payment, so the index scan of a page begins at `after`. Therefore every page costs
 * the same.
 */
export async function listNotifications(dataSource: DataSource, query: NotificationQuery): Promise<NotificationPage> {
  const { conditions, parameters } = buildFilter(query);
  const select = `SELECT ${SUMMARY_COLUMNS} FROM notifications n WHERE ${['true', ...conditions].join(' AND ')}`;
  const order = `ORDER BY id DESC LIMIT ${PAGE_SIZE + 1}`;
  const { merchantId, state, sessionId, unsigned } = query;
  // The primary key, and the indexes of a session and of missing keys, contain notifications in all states.
  const isListOfMerchant =
    merchantId !== undefined && [state, sessionId, unsigned].every((filter) => filter === undefined);
  const rows = await dataSource.query<NotificationSummary[]>(
    isListOfMerchant ? selectInAnyState(select, order) : `${select} ${order}`,
    parameters,
  );
  const page = rows.slice(0, PAGE_SIZE);
  const lastAttempts = await findLastAttempts(dataSource, page);
  const notifications = page.map((row) => ({ ...row, lastAttempt: lastAttempts.get(row.id) ?? null }));
  return { notifications, after: rows.length > PAGE_SIZE ? page.at(-1)!.id : null };
}

/** The results of the last attempts, by the id of the notification. */
export async function findLastAttempts(
  dataSource: DataSource,
  notifications: readonly Pick<NotificationSummary, 'id' | 'attemptCount'>[],
): Promise<Map<string, ListedNotification['lastAttempt']>> {
  const attempted = notifications.filter(({ attemptCount }) => attemptCount > 0);
  if (attempted.length === 0) return new Map();
  const rows = await dataSource.query<(NonNullable<ListedNotification['lastAttempt']> & { id: string })[]>(
    `SELECT notification_id AS id, status_code AS "statusCode", error_class AS "errorClass", hint
       FROM unnest($1::uuid[], $2::int[]) AS last (id, number)
       JOIN delivery_attempts ON notification_id = last.id AND attempt_number = last.number`,
    [attempted.map(({ id }) => id), attempted.map(({ attemptCount }) => attemptCount)],
  );
  return new Map(rows.map(({ id, ...attempt }) => [id, attempt]));
}

function buildFilter({ state, merchantId, sessionId, unsigned, after }: NotificationQuery): {
  conditions: string[];
  parameters: unknown[];
} {
  if (state !== undefined && !NOTIFICATION_STATES.some((validState) => validState === state)) {
    throw invalidField('state', `state must be one of ${NOTIFICATION_STATES.join(', ')}`);
  }
  if (merchantId !== undefined && !isNumericId(merchantId)) {
    throw invalidField('merchantId', 'merchantId must be a positive whole number');
  }
  if (sessionId !== undefined && !isUuid(sessionId)) throw invalidField('sessionId', 'sessionId must be a UUID');
  if (unsigned !== undefined && unsigned !== 'true') throw invalidField('unsigned', 'unsigned must be true');
  if (after !== undefined && !isUuid(after)) throw invalidField('after', 'after must be the id of a notification');

  const filters: [string, unknown][] = [
    ['merchant_id =', merchantId],
    ['session_id =', sessionId],
    // Without both limits, PostgreSQL estimates that at least a third of the rows match, and sorts them.
    [`id > '${FIRST_ID}' AND id <`, after ?? LAST_ID],
  ];
  const active = filters.filter(([, value]) => value !== undefined);
  return {
    conditions: [
      // The state is part of the SQL text, because PostgreSQL cannot use a partial index if the state is a parameter.
      // The state has been validated above.
      ...(state === undefined ? [] : [`state = '${state as NotificationState}'`]),
      ...(unsigned === undefined ? [] : ['unsigned_since IS NOT NULL']),
      ...active.map(([condition], i) => `${condition} $${i + 1}`),
    ],
    parameters: active.map(([, value]) => value),
  };
}
