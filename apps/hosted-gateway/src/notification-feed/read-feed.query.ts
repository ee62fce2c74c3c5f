import { type Mode, type NotificationFeed, notificationFields, type PaymentSnapshot } from '@svc/contracts';
import { invalidField, notificationIdOf } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { BEGINNING, type FeedCursor, readCursor, writeCursor } from './feed-cursor.js';

/** Whose notifications. */
export interface FeedOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const PAGE = 100;

interface FeedRow extends FeedCursor {
  readonly snapshot: PaymentSnapshot;
  readonly superseded: boolean;
}

/**
 * What the site's endpoint was or should have been told, oldest first, so that a merchant who was away catches up without
 * anybody's help. Answered from what this service keeps of its sessions' payments; the id and the body are those of the
 * webhook, since both services make them by the same rule (ADR 12).
 *
 * Rows commit out of order. A reader goes on behind `(transaction, position)` and is shown only transactions older than every
 * one still open, so what commits later is always behind its cursor. As with the webhook, a Failed is not told once its
 * session was paid (E2). Throws `request.invalid` for a cursor that is none.
 */
export async function readFeed(dataSource: DataSource, owner: FeedOwner, after: unknown): Promise<NotificationFeed> {
  // A reader that has kept nothing yet may send it empty.
  const isBeginning = after === undefined || after === '';
  const cursor = isBeginning ? BEGINNING : typeof after === 'string' ? readCursor(after) : undefined;
  if (!cursor) throw invalidField('after', 'after must be a value that an earlier answer gave');
  const rows = await dataSource.query<FeedRow[]>(
    `SELECT feed_txid::text AS txid, feed_position AS position, snapshot,
            snapshot->>'state' = 'failed' AND EXISTS (
              SELECT 1 FROM hosted_payments paid WHERE paid.session_id = told.session_id AND paid.snapshot->>'state' = 'success') AS superseded
       FROM hosted_payments told
      WHERE (snapshot->>'siteId')::bigint = $1 AND snapshot->>'mode' = $2 AND (snapshot->>'merchantId')::bigint = $3
        AND feed_position IS NOT NULL AND (feed_txid, feed_position) > ($4::xid8, $5::bigint) AND feed_txid < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY feed_txid, feed_position
      LIMIT ${PAGE + 1}`,
    [owner.siteId, owner.mode, owner.merchantId, cursor.txid, cursor.position],
  );
  const page = rows.slice(0, PAGE);
  const last = page.at(-1);
  const next = last ? writeCursor(last) : isBeginning ? undefined : (after as string);
  return {
    notifications: page
      .filter(({ superseded }) => !superseded)
      .map(({ snapshot }) => ({ id: notificationIdOf(snapshot), notification: notificationFields(snapshot) })),
    ...(next === undefined ? {} : { after: next }),
    hasMore: rows.length > PAGE,
    status: 'Success',
    errors: [],
  };
}
