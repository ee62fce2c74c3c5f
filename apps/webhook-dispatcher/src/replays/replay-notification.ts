import type { DeliveryOwner, PaymentStatusText } from '@svc/contracts';
import { type Clock, DomainError, isUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { DueSignal } from '../delivery/due-signal.js';
import { type NotificationState, replayRefusal } from '../notifications/notification.js';
import { lockSessions } from '../notifications/session-lock.js';

interface ReplayRow {
  state: NotificationState;
  payment_status: PaymentStatusText;
  leased: boolean;
  session_succeeded: boolean;
  replayed_at: Date | null;
}

/** Of a merchant: only its own site's and mode's, and not twice within this time. An administrator has no such bounds. */
export interface ReplayBounds {
  readonly owner: DeliveryOwner;
  readonly waitMs: number;
}

/**
 * Makes a notification due now, under the same webhook-id, with the whole schedule before it again (E5). Throws
 * `resource.not-found`, also for somebody else's; `resource.conflict` when it may not be sent; `request.rate-limited` within the
 * time that `bounds` have.
 *
 * The session's lock first: without it a success recorded at the same moment would not be seen, and the Failed that
 * is replayed would arrive after it (E2).
 */
export async function replayNotification(
  dataSource: DataSource,
  clock: Clock,
  due: DueSignal,
  id: string,
  bounds?: ReplayBounds,
): Promise<void> {
  if (!isUuid(id)) throw new DomainError('resource.not-found');
  await inTransaction(dataSource, async (tx) => {
    const [found] = await tx.query<{ session_id: string | null }[]>(
      `SELECT session_id FROM notifications WHERE id = $1${bounds ? ' AND merchant_id = $2 AND site_id = $3 AND mode = $4' : ''}`,
      bounds ? [id, bounds.owner.merchantId, bounds.owner.siteId, bounds.owner.mode] : [id],
    );
    if (!found) throw new DomainError('resource.not-found');
    // One of a site has none: nothing supersedes it (M6).
    if (found.session_id !== null) await lockSessions(tx, [found.session_id]);

    const now = clock.now();
    const [row] = await tx.query<ReplayRow[]>(
      `SELECT state, payment_status, replayed_at, coalesce(leased_until > $2, false) AS leased,
              EXISTS (SELECT 1 FROM notifications paid
                       WHERE paid.session_id = replayed.session_id AND paid.payment_status = 'Success') AS session_succeeded
         FROM notifications replayed WHERE id = $1 FOR UPDATE`,
      [id, now],
    );
    const { state, payment_status: paymentStatus, leased, session_succeeded: sessionSucceeded } = row!;
    const refusal = replayRefusal({ state, paymentStatus, leased, sessionSucceeded });
    if (refusal) throw new DomainError('resource.conflict', { message: refusal });
    const waitMs = bounds && row!.replayed_at ? row!.replayed_at.getTime() + bounds.waitMs - now.getTime() : 0;
    if (waitMs > 0) throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });

    await tx.query(
      `UPDATE notifications
          SET state = 'pending', next_attempt_at = $2, schedule_position = 0, replayed_at = $2, lease_id = NULL, leased_until = NULL
        WHERE id = $1`,
      [id, now],
    );
    // Whoever replays expects the endpoint to live: this is the probe. The circuit stays until the answer, which brings forward
    // what waits where the outage was long; other sites and the other mode have the same circuit.
    await tx.query(
      `UPDATE circuits SET open_until = $2
        WHERE (merchant_id, endpoint) = (SELECT merchant_id, endpoint FROM notifications WHERE id = $1)
          AND open_until > $2 AND probe_lease_id IS NULL`,
      [id, now],
    );
    due.afterCommit(tx);
  });
}
