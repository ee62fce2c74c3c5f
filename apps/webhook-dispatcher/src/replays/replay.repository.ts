import { Injectable } from '@nestjs/common';
import type { DeliveryOwner, PaymentStatusText } from '@svc/contracts';
import type { EntityManager } from 'typeorm';
import type { NotificationState } from '../notifications/notification.js';
import type { ReplayManyRequest } from './replay-many.request.js';

export interface ReplayableNotification {
  readonly id: string;
  /** Null for a notification of a site, which no other notification supersedes (M6). */
  readonly sessionId: string | null;
}

/** The facts that decide whether a notification may be replayed. */
export interface ReplayState {
  readonly state: NotificationState;
  readonly paymentStatus: PaymentStatusText;
  readonly leased: boolean;
  readonly sessionSucceeded: boolean;
  readonly replayedAt: Date | null;
}

/** Selection of notifications to replay; null: any. */
export interface ReplayFilter {
  readonly merchantId: number | null;
  readonly endpoint: string | null;
  readonly since: Date | null;
}

/** Notifications that one transaction replays, so that no lock is held for long. */
export const REPLAY_PAGE_SIZE = 1_000;

/** Makes notifications due again. Its methods are steps of a transaction that locks the sessions first. */
@Injectable()
export class ReplayRepository {
  /**
   * Locks sessions: until the transaction ends, no other transaction records or replays a notification of these
   * sessions: `record_notifications` takes the same locks, by the same function of the database.
   *
   * Reason: two concurrent transactions may record the Failed and the Success of one session. Without the lock neither
   * would see the row of the other, the Failed would stay pending, and the merchant could receive Failed after Success
   * (E2). The lock is a separate statement, because under READ COMMITTED only the following statements see the commit
   * of the previous lock holder.
   *
   * Call it once in a transaction. One call acquires its locks in a fixed order; a second call could break that order
   * and cause a deadlock. The lock key is a hash of the session id: two sessions with the same hash wait for each
   * other, which is harmless.
   */
  async lockSessions(tx: EntityManager, sessionIds: readonly string[]): Promise<void> {
    await tx.query(`SELECT lock_sessions($1)`, [sessionIds]);
  }

  /** Without an `owner` it finds the notification of any merchant: that is for administrators. */
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
      `SELECT state, payment_status AS "paymentStatus", replayed_at AS "replayedAt", coalesce(leased_until > $2, false) AS leased,
              EXISTS (SELECT 1 FROM notifications paid
                       WHERE paid.session_id = replayed.session_id AND paid.payment_status = 'Success') AS "sessionSucceeded"
         FROM notifications replayed WHERE id = $1 FOR UPDATE`,
      [id, now],
    );
    return row;
  }

  async makeDue(tx: EntityManager, id: string, now: Date): Promise<void> {
    await tx.query(
      `UPDATE notifications
          SET state = 'pending', next_attempt_at = $2, schedule_position = 0, replayed_at = $2, lease_id = NULL, leased_until = NULL
        WHERE id = $1`,
      [id, now],
    );
  }

  /**
   * Allows the notification as the probe of its endpoint. Its response decides whether the circuit closes or opens
   * again. All sites and both modes of a merchant share the circuit.
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
      `SELECT id, session_id AS "sessionId" FROM notifications
        WHERE merchant_id = $1 AND id > $2 AND created_at >= $3 AND ($4::text IS NULL OR endpoint = $4) AND ($5::text IS NULL OR state = $5)
        ORDER BY id LIMIT ${REPLAY_PAGE_SIZE}`,
      [merchantId, after, since, endpoint, state ?? null],
    );
  }

  /**
   * Finds the notifications in a state, the oldest first. The validated state is part of the text: PostgreSQL cannot
   * use its partial index with a parameter.
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
   * Does {@link makeDue} and {@link halfOpenCircuit} for those of the notifications that may be replayed, and returns
   * their number. Of each endpoint with an open circuit, one notification becomes the probe. It locks the circuits in a
   * fixed order, so two replays of the same endpoints cannot deadlock.
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
