import { Inject, Injectable } from '@nestjs/common';
import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import { buildPaymentNotification, Clock, type IdentifiedNotification } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { Channel } from './event-id.js';

const DAY_MS = 86_400_000;
/**
 * Events that are older than this create no notification, so that a replay of the whole event log does not send years of
 * payments to the streams.
 */
export const MAX_NOTIFICATION_AGE_MS = 3 * DAY_MS;
/**
 * A notification is deleted a day after its event became too old to create a notification. Therefore a repeated event cannot create
 * a deleted notification again, even if the clocks of replicas differ.
 */
export const RETENTION_MS = MAX_NOTIFICATION_AGE_MS + DAY_MS;
/** Maximum number of notifications that one statement deletes. */
const DELETE_BATCH_SIZE = 5_000;

/** A notification in the format of the stream. */
export interface StoredNotification {
  readonly position: number;
  readonly type: 'payment' | 'refund' | 'dispute';
  /** JSON. */
  readonly body: string;
}

/** The position up to which a reader has read its channel. */
export interface StreamCursor {
  readonly channel: Channel;
  readonly position: number;
}

/** The notifications after a {@link StreamCursor}. */
export interface NotificationPage {
  /** The notifications in the order of their positions, at most as many as requested. */
  readonly notifications: readonly StoredNotification[];
  /** Position of a reader after these notifications. Undefined if notifications were deleted that the reader has not read. */
  readonly end: number | undefined;
}

/** The newest position of a channel, and the newest position whose notification was deleted. */
export interface PositionRange {
  readonly newest: number;
  readonly removed: number;
}

type PaymentEvent = EventEnvelope<PaymentSnapshot>;

/**
 * Writes each notification once, and reads the notifications of a channel in the order of their positions. A writer locks the row
 * of its channel in `notification_positions` until it commits. Therefore a notification becomes visible only after all notifications with
 * lower positions, and readers miss no notification.
 */
@Injectable()
export class NotificationRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Inserts notifications in one statement. Events may be replayed, because an existing notification is not inserted again. The
   * statement locks channels in a fixed order, so that two such statements never deadlock.
   */
  async insertNew(events: readonly PaymentEvent[]): Promise<void> {
    const oldest = this.clock.later(-MAX_NOTIFICATION_AGE_MS);
    const recent = events.filter(({ occurredAt }) => new Date(occurredAt) >= oldest);
    if (recent.length === 0) return;
    const rows = new Map<string, Record<string, unknown>>();
    for (const { payload } of recent) {
      const identified = buildPaymentNotification(payload);
      if (!rows.has(identified.id)) rows.set(identified.id, rowFromNotification(payload, identified, rows.size));
    }
    await this.dataSource.query(INSERT_NEW, [JSON.stringify([...rows.values()]), this.clock.now()]);
  }

  async getPositionRange({ merchantId, siteId, mode }: Channel): Promise<PositionRange> {
    const [row] = await this.dataSource.query<PositionRange[]>(
      `SELECT newest, removed FROM notification_positions WHERE merchant_id = $1 AND site_id = $2 AND mode = $3`,
      [merchantId, siteId, mode],
    );
    return row ?? { newest: 0, removed: 0 };
  }

  /**
   * Reads the new notifications of all cursors in one statement. The keys of the returned map are the indexes of the cursors.
   * The map does not contain cursors without new notifications.
   */
  async readAfter(cursors: readonly StreamCursor[], limit: number): Promise<Map<number, NotificationPage>> {
    const rows = await this.dataSource.query<ReadRow[]>(READ_AFTER, [
      JSON.stringify(cursors.map(({ channel, position }, nth) => ({ nth, ...channel, position }))),
      limit,
    ]);
    const byCursor = new Map<number, ReadRow[]>();
    for (const row of rows) byCursor.set(row.nth, [...(byCursor.get(row.nth) ?? []), row]);
    return new Map(
      [...byCursor].map(
        ([nth, rowsOfCursor]) => [nth, buildPage(cursors[nth]!.position, rowsOfCursor, limit)] as const,
      ),
    );
  }

  /** Deletes a batch of expired notifications. Returns false if no notification was expired. Replicas may call it concurrently. */
  async deleteExpired(): Promise<boolean> {
    const [{ removed }] = await this.dataSource.query<[{ removed: number }]>(DELETE_EXPIRED, [
      this.clock.later(-RETENTION_MS),
      DELETE_BATCH_SIZE,
    ]);
    return removed > 0;
  }
}

function rowFromNotification(
  payment: PaymentSnapshot,
  { id, notification }: IdentifiedNotification,
  nth: number,
): Record<string, unknown> {
  const { merchantId: merchant_id, siteId: site_id, mode } = payment;
  return {
    nth,
    notification_id: id,
    merchant_id,
    site_id,
    mode,
    type: notification.type,
    body: JSON.stringify(notification),
  };
}

/**
 * $1: the notifications as JSON, $2: now. The statement adds the number of new notifications of a channel to the newest position of
 * the channel. The new notifications get the positions in between, in their order.
 */
const INSERT_NEW = `
  WITH fresh AS (
    SELECT g.*, count(*) OVER channel AS of_channel, row_number() OVER (channel ORDER BY nth) AS place
      FROM jsonb_to_recordset($1::jsonb)
        AS g (nth integer, notification_id uuid, merchant_id bigint, site_id bigint, mode text, type text, body text)
     WHERE NOT EXISTS (SELECT FROM notifications n WHERE n.notification_id = g.notification_id)
    WINDOW channel AS (PARTITION BY merchant_id, site_id, mode)
  ), positions AS (
    INSERT INTO notification_positions AS p (merchant_id, site_id, mode, newest)
    SELECT merchant_id, site_id, mode, count(*) FROM fresh GROUP BY merchant_id, site_id, mode ORDER BY merchant_id, site_id, mode
    ON CONFLICT (merchant_id, site_id, mode) DO UPDATE SET newest = p.newest + excluded.newest
    RETURNING merchant_id, site_id, mode, newest
  )
  INSERT INTO notifications (notification_id, merchant_id, site_id, mode, position, type, body, kept_since)
  SELECT f.notification_id, f.merchant_id, f.site_id, f.mode, p.newest - f.of_channel + f.place, f.type, f.body, $2::timestamptz
    FROM fresh f JOIN positions p ON p.merchant_id = f.merchant_id AND p.site_id = f.site_id AND p.mode = f.mode
  ON CONFLICT (notification_id) DO NOTHING`;

type ReadRow = PositionRange & { readonly nth: number } & (StoredNotification | { readonly position: null });

/** $1: the cursors as JSON, $2: maximum number of notifications for each cursor. */
const READ_AFTER = `
  SELECT w.nth, p.newest, p.removed, n.position, n.type, n.body
    FROM jsonb_to_recordset($1::jsonb) AS w (nth integer, "merchantId" bigint, "siteId" bigint, mode text, position bigint)
    JOIN notification_positions p ON p.merchant_id = w."merchantId" AND p.site_id = w."siteId" AND p.mode = w.mode AND p.newest > w.position
    LEFT JOIN LATERAL (
      SELECT position, type, body FROM notifications
       WHERE merchant_id = w."merchantId" AND site_id = w."siteId" AND mode = w.mode AND position > w.position
       ORDER BY position LIMIT $2
    ) AS n ON true
   ORDER BY w.nth, n.position`;

function buildPage(after: number, rows: readonly ReadRow[], limit: number): NotificationPage {
  const { newest, removed } = rows[0]!;
  if (removed > after) return { notifications: [], end: undefined };
  const notifications = rows.filter(
    (row): row is PositionRange & { nth: number } & StoredNotification => row.position !== null,
  );
  // Every position up to the newest is committed. Therefore, if there are fewer notifications than requested, no more exist.
  return { notifications, end: notifications.length < limit ? newest : notifications.at(-1)!.position };
}

/**
 * $1: notifications from before this time are expired, $2: maximum number of notifications. The statement skips rows that another
 * replica is deleting.
 */
const DELETE_EXPIRED = `
  WITH old AS (
    SELECT notification_id FROM notifications WHERE kept_since < $1 ORDER BY kept_since LIMIT $2 FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM notifications n USING old WHERE n.notification_id = old.notification_id
    RETURNING n.merchant_id, n.site_id, n.mode, n.position
  ), marked AS (
    INSERT INTO notification_positions AS p (merchant_id, site_id, mode, newest, removed)
    SELECT merchant_id, site_id, mode, max(position), max(position) FROM gone
     GROUP BY merchant_id, site_id, mode ORDER BY merchant_id, site_id, mode
    ON CONFLICT (merchant_id, site_id, mode) DO UPDATE SET removed = greatest(p.removed, excluded.removed)
  )
  SELECT count(*) AS removed FROM gone`;
