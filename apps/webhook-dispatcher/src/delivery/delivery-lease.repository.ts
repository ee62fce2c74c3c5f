import { Inject, Injectable } from '@nestjs/common';
import type { Mode, PaymentStatusText } from '@svc/contracts';
import { DataSource } from 'typeorm';
import type { NotificationContent } from '../notifications/notification.js';
import type { SigningPurpose } from '../signing-secrets/find-signing-secrets.query.js';
import type { BusyLane } from './occupancy.js';

/** A notification that this worker alone may send until its lease ends. */
export type LeasedNotification = NotificationContent & {
  readonly id: string;
  /** The same at every try (E8). */
  readonly webhookId: string;
  readonly leaseId: string;
  readonly leasedUntil: Date;
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly paymentStatus: PaymentStatusText;
  readonly url: string;
  readonly endpoint: string;
  /** Tries of the schedule already made. */
  readonly schedulePosition: number;
  readonly createdAt: Date;
  /** Trace of the payment. */
  readonly traceparent: string | null;
};

export interface LeaseRequest {
  readonly now: Date;
  /** New for each request: it fences the results (delivery-attempt.repository.ts). */
  readonly leaseId: string;
  /** Later than any try can end: see LEASE_MS of the worker. */
  readonly leasedUntil: Date;
  /** In all, for one merchant, and for one endpoint of it. */
  readonly max: number;
  readonly maxPerMerchant: number;
  readonly maxPerEndpoint: number;
  /** Where this worker is sending to, and how many at once. */
  readonly busy: readonly BusyLane[];
}

/** Why a notification could not be signed. */
export interface UnsignedAttempt {
  readonly at: Date;
  /** At least one. */
  readonly missingKeys: readonly SigningPurpose[];
}

/** What has been due for longer shares the places with what is new: neither waits for the other (E6). */
const BACKLOG_AFTER_MS = 30_000;

/**
 * Notifications of one endpoint that may be sent, due within these bounds. NOT EXISTS instead of the last look-up would be
 * planned as one scan of all notifications.
 */
const dueWithin = (bounds: string): string => `
  SELECT n.id, n.next_attempt_at
    FROM notifications n
   WHERE n.merchant_id = ready.merchant_id AND n.endpoint = ready.endpoint AND n.state = 'pending' AND ${bounds}
     AND (n.leased_until IS NULL OR n.leased_until <= $1)
     AND (n.payment_status = 'Failed' OR (
            SELECT true FROM notifications failed
             WHERE failed.session_id = n.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > $1
             LIMIT 1) IS NULL)
   ORDER BY n.next_attempt_at
   LIMIT ready.room
     FOR UPDATE SKIP LOCKED`;

/**
 * `WITH RECURSIVE` this: every endpoint of a merchant that has something pending, with the earliest time that it is due.
 * It skips through the index from one to the next, so it costs what there are endpoints, not what waits for them.
 */
const LANES = `lanes AS (
    (SELECT merchant_id, endpoint, next_attempt_at AS first_due FROM notifications
      WHERE state = 'pending' ORDER BY merchant_id, endpoint, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT further.*
      FROM lanes
     CROSS JOIN LATERAL (
           SELECT n.merchant_id, n.endpoint, n.next_attempt_at FROM notifications n
            WHERE n.state = 'pending' AND (n.merchant_id, n.endpoint) > (lanes.merchant_id, lanes.endpoint)
            ORDER BY n.merchant_id, n.endpoint, n.next_attempt_at LIMIT 1) AS further
  )`;

const LEASE = `
  WITH RECURSIVE ${LANES}, busy AS (
    SELECT * FROM unnest($7::bigint[], $8::text[], $9::int[]) AS b(merchant_id, endpoint, in_flight)
  ), ready AS (
    SELECT merchant_id, endpoint, coalesce(busy.in_flight, 0) AS in_flight, circuits.open_until IS NOT NULL AS is_probe,
           CASE WHEN circuits.open_until IS NULL THEN greatest(least($6::int - coalesce(busy.in_flight, 0), $4), 0) ELSE 1 END AS room
      FROM lanes
      LEFT JOIN busy USING (merchant_id, endpoint)
      LEFT JOIN circuits USING (merchant_id, endpoint)
     WHERE lanes.first_due <= $1 AND (circuits.open_until IS NULL OR circuits.open_until <= $1)
  ), due AS (
    SELECT ready.*, picked.id, picked.next_attempt_at, picked.is_new,
           row_number() OVER (PARTITION BY merchant_id, endpoint, is_new ORDER BY next_attempt_at) AS turn
      FROM ready
     CROSS JOIN LATERAL (
           SELECT id, next_attempt_at, true AS is_new FROM (${dueWithin('n.next_attempt_at > $10 AND n.next_attempt_at <= $1')}) AS new
           UNION ALL
           SELECT id, next_attempt_at, false FROM (${dueWithin('n.next_attempt_at <= $10')}) AS waiting) AS picked
  ), of_endpoint AS (
    SELECT *, row_number() OVER (PARTITION BY merchant_id, endpoint ORDER BY turn, is_new DESC) AS place FROM due
  ), of_merchant AS (
    SELECT *, row_number() OVER (PARTITION BY merchant_id ORDER BY in_flight + place, next_attempt_at) AS place_of_merchant
      FROM of_endpoint WHERE place <= room
  ), chosen AS (
    SELECT * FROM of_merchant
     WHERE place_of_merchant <= $5 - coalesce((SELECT sum(in_flight) FROM busy WHERE busy.merchant_id = of_merchant.merchant_id), 0)
     ORDER BY in_flight + place, next_attempt_at
     LIMIT $4
  ), probed AS (
    UPDATE circuits SET open_until = $2, probe_lease_id = $3
     WHERE (merchant_id, endpoint) IN (
             SELECT c.merchant_id, c.endpoint FROM circuits c JOIN chosen USING (merchant_id, endpoint)
              WHERE chosen.is_probe AND c.open_until <= $1 FOR UPDATE OF c SKIP LOCKED)
    RETURNING merchant_id, endpoint
  )
  UPDATE notifications SET lease_id = $3, leased_until = $2, next_attempt_at = $2
    FROM chosen LEFT JOIN probed USING (merchant_id, endpoint)
   WHERE notifications.id = chosen.id AND (NOT chosen.is_probe OR probed.endpoint IS NOT NULL)
  RETURNING notifications.id, coalesce(webhook_id, notifications.id) AS "webhookId", recipient, lease_id AS "leaseId", leased_until AS "leasedUntil", notifications.merchant_id AS "merchantId",
            site_id AS "siteId", mode, api_version AS "apiVersion", payment_status AS "paymentStatus", url,
            notifications.endpoint, fields, schedule_position AS "schedulePosition", created_at AS "createdAt", traceparent`;

/** More than this are not counted: an alarm needs no exact number. */
const UNSIGNED_COUNTED_MAX = 10_000;

/** The leases of workers on notifications that are due. */
@Injectable()
export class DeliveryLeaseRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Takes what is due: one statement. It walks the endpoints of merchants that have something pending by skipping through
   * the index, so an endpoint with a hundred thousand due rows costs as much as one with ten, and hides nobody (E6).
   *
   * - Of an endpoint: oldest first, but what became due lately and what has waited longer take turns.
   * - Among endpoints: whoever has least on the wire is next, then the oldest, so that places are shared evenly.
   * - Nothing of an endpoint whose circuit is open, and one of one that is half-open (circuit.ts). That probe is marked in the
   *   same statement, and a worker that finds the mark being made by another leaves the endpoint alone.
   *
   * While it is leased, a row is due again at the end of its lease: a worker that dies leaves nothing to clean up.
   *
   * A Success is left alone while a Failed of its session is under a lease, since the two would race on the wire and
   * the merchant might see Failed after Success (E2). That no new lease on a Failed can begin once the Success is
   * visible, and that every earlier one is visible by then, is argued at record-notifications.ts.
   */
  async leaseDue(request: LeaseRequest): Promise<LeasedNotification[]> {
    const [rows] = await this.dataSource.query<[LeasedNotification[], number]>(LEASE, [
      request.now,
      request.leasedUntil,
      request.leaseId,
      request.max,
      request.maxPerMerchant,
      request.maxPerEndpoint,
      request.busy.map(({ merchantId }) => merchantId),
      request.busy.map(({ endpoint }) => endpoint),
      request.busy.map(({ inFlight }) => inFlight),
      new Date(request.now.getTime() - BACKLOG_AFTER_MS),
    ]);
    return rows;
  }

  /**
   * Ends a lease without an attempt: due again at `nextAttemptAt`, or given up when there is none. Does nothing when the
   * lease is no longer ours; a row superseded meanwhile only loses its lease. With `unsigned`, administrators see that the
   * merchant cannot be notified until keys are created.
   */
  async release(
    { id, leaseId }: Pick<LeasedNotification, 'id' | 'leaseId'>,
    nextAttemptAt: Date | undefined,
    unsigned?: UnsignedAttempt,
  ): Promise<void> {
    await this.dataSource.query(
      `UPDATE notifications
          SET state = CASE WHEN state = 'pending' AND $3::timestamptz IS NULL THEN 'exhausted' ELSE state END,
              next_attempt_at = CASE WHEN state = 'pending' THEN $3::timestamptz END, lease_id = NULL, leased_until = NULL,
              unsigned_since = CASE WHEN $4::timestamptz IS NULL THEN unsigned_since ELSE coalesce(unsigned_since, $4) END,
              missing_keys = coalesce($5, missing_keys)
        WHERE id = $1 AND lease_id = $2`,
      [id, leaseId, nextAttemptAt ?? null, unsigned?.at ?? null, unsigned?.missingKeys ?? null],
    );
  }

  /** When the notification that has been due for longest became due. */
  async findOldestDue(): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ since: Date | null }[]>(
      `WITH RECURSIVE ${LANES} SELECT min(first_due) AS since FROM lanes`,
    );
    return row?.since ?? undefined;
  }

  /** Notifications that no key signs, exhausted ones included: they are replayed once the keys exist. Up to 10 000. */
  async countUnsigned(): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: number }]>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM notifications
          WHERE unsigned_since IS NOT NULL AND state IN ('pending', 'exhausted') LIMIT ${UNSIGNED_COUNTED_MAX}) AS unsigned`,
    );
    return row.count;
  }
}
