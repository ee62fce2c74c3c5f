import { Injectable } from '@nestjs/common';
import type { DeliveryOwner, PaymentStatusText } from '@svc/contracts';
import type { EntityManager } from 'typeorm';
import { selectInAnyState } from '../notifications/list-notifications.query.js';
import type { NotificationState } from '../notifications/notification.js';
import type { ReplayManyRequest } from './replay-many.request.js';

export interface ReplayableNotification {
  readonly id: string;
  /** Null for a notification of a site, because notifications of a site are never superseded (M6). */
  readonly sessionId: string | null;
}

/** The facts that decide whether a notification may be replayed. */
interface ReplayState {
  readonly state: NotificationState;
  readonly paymentStatus: PaymentStatusText;
  readonly leased: boolean;
  readonly sessionSucceeded: boolean;
  readonly replayedAt: Date | null;
  /** Id of the merchant's last request to replay. */
  readonly replayedBy: string | null;
}

/** Selection of notifications to replay. A field that is null does not restrict the selection. */
interface ReplayFilter {
  readonly merchantId: number | null;
  readonly endpoint: string | null;
  readonly since: Date | null;
}

/** Maximum number of notifications that one transaction replays. It is limited so that no lock is held for long. */
export const REPLAY_PAGE_SIZE = 1_000;

/** Makes notifications due again. The methods are steps of a transaction that must call `lockSessions` first. */
@Injectable()
export class ReplayRepository {
  /**
   * Locks sessions. Until the transaction ends, no other transaction can record or replay a notification of these
   * sessions, because the database function `record_notifications` acquires the same locks.
   *
   * The reason is that two concurrent transactions may record the notifications of a failed and of a successful payment
   * of one session (the Failed and the Success). Without the lock, neither transaction would see the row of the other.
   * The Failed would stay pending, and the merchant could receive the Failed after the Success (E2).
   * The lock is a separate statement, because under READ COMMITTED only later statements see what the previous lock
   * holder has committed.
   *
   * Call this method only once in a transaction. One call acquires its locks in a fixed order. A second call could
   * break that order and cause a deadlock. The lock key is a hash of the session id. Two sessions with the same hash
   * share a lock, which is harmless.
   */
  async lockSessions(tx: EntityManager, sessionIds: readonly string[]): Promise<void> {
    await tx.query(`SELECT lock_sessions($1)`, [sessionIds]);
  }

  /** If `owner` is undefined, finds a notification of any merchant. Only administrators may do so. */
  async find(
    tx: EntityManager,
    id: string,
    owner: DeliveryOwner | undefined,
  ): Promise<ReplayableNotification | undefined> {
    const [found] = await tx.query<ReplayableNotification[]>(
      `SELECT id, session_id AS "sessionId" FROM notifications WHERE id = $1${owner ? ' AND merchant_id = $2 AND site_id = $3 AND mode = $4' : ''}`,
      owner ? [id, owner.merchantId, owner.siteId, owner.mode] : [id],
    );
    return found;
  }

  /** Locks the row until the end of the transaction. */
  async getForUpdate(tx: EntityManager, id: string, now: Date): Promise<ReplayState> {
    const [row] = await tx.query<[ReplayState]>(
      `SELECT state, payment_status AS "paymentStatus", replayed_at AS "replayedAt", replayed_by AS "replayedBy",
              coalesce(leased_until > $2, false) AS leased,
              EXISTS (SELECT 1 FROM notifications paid
                       WHERE paid.session_id = replayed.session_id AND paid.payment_status = 'Success') AS "sessionSucceeded"
         FROM notifications replayed WHERE id = $1 FOR UPDATE`,
      [id, now],
    );
    return row;
  }

  async makeDue(tx: EntityManager, id: string, now: Date, requestId?: string): Promise<void> {
    await tx.query(
      `UPDATE notifications
          SET state = 'pending', next_attempt_at = $2, schedule_position = 0, replayed_at = $2, replayed_by = $3,
              lease_id = NULL, leased_until = NULL
        WHERE id = $1`,
      [id, now, requestId ?? null],
    );
  }

  /**
   * Allows a probe of the endpoint of this notification. The response to the probe decides whether the circuit closes
   * or opens again. All sites of a merchant share the circuit, in test mode and in live mode.
   */
  async halfOpenCircuit(tx: EntityManager, id: string, now: Date): Promise<void> {
    await tx.query(
      `UPDATE circuits SET open_until = $2
        WHERE (merchant_id, endpoint) = (SELECT merchant_id, endpoint FROM notifications WHERE id = $1)
          AND open_until > $2 AND probe_lease_id IS NULL`,
      [id, now],
    );
  }

  /** Finds the notifications of a merchant since a time, the oldest first. */
  findSince(
    tx: EntityManager,
    after: string,
    { merchantId, endpoint, since }: ReplayFilter,
    state: string | undefined,
  ): Promise<ReplayableNotification[]> {
    return tx.query(
      selectInAnyState(
        `SELECT id, session_id AS "sessionId" FROM notifications n
          WHERE merchant_id = $1 AND id > $2 AND created_at >= $3 AND ($4::text IS NULL OR endpoint = $4) AND ($5::text IS NULL OR state = $5)`,
        `ORDER BY id LIMIT ${REPLAY_PAGE_SIZE}`,
      ),
      [merchantId, after, since, endpoint, state ?? null],
    );
  }

  /**
   * Finds the notifications in a state, the oldest first. The state is part of the SQL text, because PostgreSQL cannot
   * use the partial index if the state is a parameter. The caller has validated the state.
   */
  findInState(
    tx: EntityManager,
    after: string,
    { merchantId, endpoint, since }: ReplayFilter,
    state: NonNullable<ReplayManyRequest['state']>,
  ): Promise<ReplayableNotification[]> {
    return tx.query(
      `SELECT id, session_id AS "sessionId" FROM notifications
        WHERE state = '${state}' AND id > $1 AND ($2::bigint IS NULL OR merchant_id = $2) AND ($3::text IS NULL OR endpoint = $3)
          AND ($4::timestamptz IS NULL OR created_at >= $4)
        ORDER BY id LIMIT ${REPLAY_PAGE_SIZE}`,
      [after, merchantId, endpoint, since],
    );
  }

  /**
   * Does the same as {@link makeDue} and {@link halfOpenCircuit} for the notifications that may be replayed. Returns
   * their number. For each endpoint with an open circuit, one notification becomes the probe. The circuits are locked
   * in a fixed order, so two replays of the same endpoints cannot deadlock.
   */
  async makeManyDue(tx: EntityManager, ids: readonly string[], now: Date): Promise<number> {
    const [replayed] = await tx.query<[{ merchant_id: number; endpoint: string }[], number]>(
      `UPDATE notifications replayed
          SET state = 'pending', next_attempt_at = $2, schedule_position = 0, replayed_at = $2, lease_id = NULL, leased_until = NULL
        WHERE id = ANY($1::uuid[]) AND state <> 'superseded' AND (leased_until IS NULL OR leased_until <= $2)
          AND NOT (payment_status = 'Failed' AND EXISTS (
                SELECT 1 FROM notifications paid WHERE paid.session_id = replayed.session_id AND paid.payment_status = 'Success'))
        RETURNING merchant_id, endpoint`,
      [ids, now],
    );
    await tx.query(
      `WITH probed AS MATERIALIZED (
         SELECT merchant_id, endpoint FROM circuits
          WHERE (merchant_id, endpoint) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))
            AND open_until > $3 AND probe_lease_id IS NULL
          ORDER BY merchant_id, endpoint FOR UPDATE)
       UPDATE circuits SET open_until = $3 FROM probed
        WHERE circuits.merchant_id = probed.merchant_id AND circuits.endpoint = probed.endpoint`,
      [replayed.map(({ merchant_id }) => merchant_id), replayed.map(({ endpoint }) => endpoint), now],
    );
    return replayed.length;
  }
}
