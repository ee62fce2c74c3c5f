import { type Mode, type NotificationFeed, notificationFields } from '@svc/contracts';
import { invalidField, notificationIdOf } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { HostedSnapshot } from '../payment-copies/payment-copy.js';
import { decodeCursor, encodeCursor, type FeedCursor, START_CURSOR } from './feed-cursor.js';

/** The owner of the notifications. */
interface FeedOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const PAGE_SIZE = 100;

interface FeedRow extends FeedCursor {
  readonly snapshot: HostedSnapshot;
  readonly superseded: boolean;
}

/**
 * Reads the notifications for the site's endpoint, oldest first, also if they were not delivered. A merchant reads them
 * after an outage. This service derives the notifications from its copy of the payments. Their ids and bodies equal the
 * ids and bodies of the webhooks, because webhook-dispatcher applies the same rule to the same payments (ADR 12).
 *
 * Rows commit out of order. Therefore the cursor is `(transaction, position)`, and a page contains only rows of
 * transactions that began before every open transaction. So a row that commits later is always after the cursor. The
 * feed, like the webhooks, omits a failed payment after its session was paid (E2). Throws `request.invalid` for an
 * invalid cursor.
 */
export async function readFeed(dataSource: DataSource, owner: FeedOwner, after: unknown): Promise<NotificationFeed> {
  // A client that has not stored a cursor may send an empty one.
  const isFromBeginning = after === undefined || after === '';
  const cursor = isFromBeginning ? START_CURSOR : typeof after === 'string' ? decodeCursor(after) : undefined;
  if (!cursor) throw invalidField('after', 'after must be a value from an earlier response');
  const rows = await dataSource.query<FeedRow[]>(
    `SELECT feed_txid::text AS txid, feed_position AS position, snapshot,
            snapshot->>'state' = 'failed' AND EXISTS (
              SELECT 1 FROM hosted_payments paid WHERE paid.session_id = notified.session_id AND paid.snapshot->>'state' = 'success') AS superseded
       FROM hosted_payments notified
      WHERE (snapshot->>'siteId')::bigint = $1 AND snapshot->>'mode' = $2 AND (snapshot->>'merchantId')::bigint = $3
        AND feed_position IS NOT NULL AND (feed_txid, feed_position) > ($4::xid8, $5::bigint) AND feed_txid < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY feed_txid, feed_position
      LIMIT ${PAGE_SIZE + 1}`,
    [owner.siteId, owner.mode, owner.merchantId, cursor.txid, cursor.position],
  );
  const page = rows.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  const next = last ? encodeCursor(last) : isFromBeginning ? undefined : (after as string);
  return {
    notifications: page
      .filter(({ superseded }) => !superseded)
      .map(({ snapshot }) => ({ id: notificationIdOf(snapshot), notification: notificationFields(snapshot) })),
    ...(next === undefined ? {} : { after: next }),
    hasMore: rows.length > PAGE_SIZE,
    status: 'Success',
    errors: [],
  };
}
