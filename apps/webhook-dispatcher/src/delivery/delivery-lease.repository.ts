import { Inject, Injectable } from '@nestjs/common';
import { type ColumnMap, selectedColumns } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { EndpointUsage } from '../endpoint/concurrency-limiter.js';
import { NOTIFICATION } from '../notifications/columns.js';
import type { NewNotification } from '../notifications/notification.js';
import type { SigningPurpose } from '../signing-secrets/find-signing-secrets.query.js';

/** A notification that only this worker may send until its lease ends. */
export type LeasedNotification = NewNotification &
  Lease & {
    /** Number of attempts since the schedule began. */
    readonly schedulePosition: number;
    readonly createdAt: Date;
    /** When a replay last restarted the schedule. */
    readonly replayedAt?: Date | null;
  };

export interface Lease {
  /**
   * New for each request. It is a fencing token: a result is recorded only while the row has this id
   * (delivery-attempt.repository.ts).
   */
  readonly leaseId: string;
  /** Every attempt ends before this time: see LEASE_MS of the worker. */
  readonly leasedUntil: Date;
}

export interface LeaseRequest extends Lease {
  readonly now: Date;
  /** Maximum number of notifications to lease. */
  readonly max: number;
  /** Maximum number of requests in flight to one merchant, including `usage`. */
  readonly maxPerMerchant: number;
  /** Maximum number of requests in flight to one endpoint of a merchant, including `usage`. */
  readonly maxPerEndpoint: number;
  /** The requests of this worker that are in flight. */
  readonly usage: readonly EndpointUsage[];
}

/** The keys that are missing for the signature of a notification, and the time at which the worker noticed it. */
interface SigningFailure {
  readonly at: Date;
  /** At least one key is missing. */
  readonly missingKeys: readonly SigningPurpose[];
}

/**
 * A notification that has been due for longer than this belongs to the backlog. Backlog and newer notifications are
 * leased in turn (E6).
 */
const BACKLOG_AGE_MS = 30_000;

/**
 * Selects the notifications of one endpoint that may be sent and whose due time satisfies `condition`. The subquery for
 * a leased Failed is compared with NULL, because PostgreSQL would scan all notifications for a NOT EXISTS.
 */
const selectDueOfEndpoint = (condition: string): string => `
  SELECT n.id, n.next_attempt_at
    FROM notifications n
   WHERE n.merchant_id = ready.merchant_id AND n.endpoint = ready.endpoint AND n.state = 'pending' AND ${condition}
     AND (n.leased_until IS NULL OR n.leased_until <= $1)
     AND (n.payment_status = 'Failed' OR (
            SELECT true FROM notifications failed
             WHERE failed.session_id = n.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > $1
             LIMIT 1) IS NULL)
   ORDER BY n.next_attempt_at
   LIMIT ready.room
     FOR UPDATE SKIP LOCKED`;

/**
 * For `WITH RECURSIVE`: each endpoint that has pending notifications without a lease, with their earliest due time. $1
 * is now. The query is a skip scan of the index, so its cost depends on the number of endpoints and of leases, not on
 * the number of notifications.
 */
const PENDING_ENDPOINTS = `endpoints AS (
    (SELECT merchant_id, endpoint, next_attempt_at AS first_due FROM notifications
      WHERE state = 'pending' AND (leased_until IS NULL OR leased_until <= $1)
      ORDER BY merchant_id, endpoint, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT further.*
      FROM endpoints
     CROSS JOIN LATERAL (
           SELECT n.merchant_id, n.endpoint, n.next_attempt_at FROM notifications n
            WHERE n.state = 'pending' AND (n.leased_until IS NULL OR n.leased_until <= $1)
              AND (n.merchant_id, n.endpoint) > (endpoints.merchant_id, endpoints.endpoint)
            ORDER BY n.merchant_id, n.endpoint, n.next_attempt_at LIMIT 1) AS further
  )`;

const LEASED_NOTIFICATION = {
  ...NOTIFICATION,
  leaseId: ['lease_id', 'uuid'],
  leasedUntil: ['leased_until', 'timestamptz'],
  schedulePosition: ['schedule_position', 'int'],
  createdAt: ['created_at', 'timestamptz'],
  replayedAt: ['replayed_at', 'timestamptz'],
} as const satisfies ColumnMap<keyof LeasedNotification>;

/**
 * Parameters:
 * - $1: now. $2: the end of the leases. $3: the lease id.
 * - $4, $5, $6: the limits in total, of a merchant, and of an endpoint.
 * - $7, $8, $9: the merchant ids, endpoints and numbers of the requests in flight.
 * - $10: the latest due time that belongs to the backlog.
 *
 * Steps:
 * - `busy`: the requests in flight
 * - `ready`: the endpoints that may receive notifications, and how many notifications each may receive (`room`)
 * - `due`: the due notifications of these endpoints
 * - `of_endpoint`, `of_merchant`: the order in which the due notifications are leased
 * - `chosen`: the notifications within all limits
 * - `probed`: the circuits whose probe is one of the chosen notifications
 */
const LEASE_DUE = `
  WITH RECURSIVE ${PENDING_ENDPOINTS}, busy AS (
    SELECT * FROM unnest($7::bigint[], $8::text[], $9::int[]) AS b(merchant_id, endpoint, in_flight)
  ), ready AS (
    SELECT merchant_id, endpoint, coalesce(busy.in_flight, 0) AS in_flight, circuits.open_until IS NOT NULL AS is_probe,
           CASE WHEN circuits.open_until IS NULL THEN greatest(least($6::int - coalesce(busy.in_flight, 0), $4), 0) ELSE 1 END AS room
      FROM endpoints
      LEFT JOIN busy USING (merchant_id, endpoint)
      LEFT JOIN circuits USING (merchant_id, endpoint)
     WHERE endpoints.first_due <= $1 AND (circuits.open_until IS NULL OR circuits.open_until <= $1)
  ), due AS (
    SELECT ready.*, picked.id, picked.next_attempt_at, picked.is_new,
           row_number() OVER (PARTITION BY merchant_id, endpoint, is_new ORDER BY next_attempt_at) AS turn
      FROM ready
     CROSS JOIN LATERAL (
           SELECT id, next_attempt_at, true AS is_new FROM (${selectDueOfEndpoint('n.next_attempt_at > $10 AND n.next_attempt_at <= $1')}) AS new
           UNION ALL
           SELECT id, next_attempt_at, false FROM (${selectDueOfEndpoint('n.next_attempt_at <= $10')}) AS waiting) AS picked
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
  UPDATE notifications SET lease_id = $3, leased_until = $2
    FROM (SELECT chosen.id AS chosen_id FROM chosen LEFT JOIN probed USING (merchant_id, endpoint)
           WHERE NOT chosen.is_probe OR probed.endpoint IS NOT NULL) AS allowed
   WHERE id = chosen_id
  RETURNING ${selectedColumns(LEASED_NOTIFICATION)}`;

/** `countUnsigned` counts at most this many rows, because an alert needs no exact number. */
const MAX_UNSIGNED_COUNT = 10_000;

/** Leases due notifications to workers, and releases the leases. */
@Injectable()
export class DeliveryLeaseRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Leases due notifications in one statement. The cost is the same for an endpoint with a hundred thousand due rows
   * and for an endpoint with ten due rows, so an endpoint with a backlog does not delay other endpoints (E6).
   *
   * - Within an endpoint: the oldest notification first, but backlog and newer notifications in turn.
   * - Among endpoints: the endpoint with the fewest requests in flight first, then the endpoint with the oldest
   *   notification, so that endpoints share the permits evenly.
   * - An open circuit allows no notification. A half-open circuit allows one notification, the probe (circuit.ts). The
   *   same statement marks the probe in the circuit. A worker skips an endpoint whose probe another worker is marking.
   *
   * A lease does not change the due time of its row, so the row is due again at the end of the lease, and a crash of its
   * worker needs no cleanup.
   *
   * A Success is the notification of a successful payment, and a Failed is the notification of a failed payment. A
   * Success is not leased while a Failed of the same session is leased, because the two requests would race and the
   * merchant might receive the Failed after the Success (E2). record-notifications.ts explains why no new lease of a
   * Failed can begin once the Success is visible, and why this statement sees every earlier lease.
   */
  async leaseDue(request: LeaseRequest): Promise<LeasedNotification[]> {
    const [rows] = await this.dataSource.query<[LeasedNotification[], number]>(LEASE_DUE, [
      request.now,
      request.leasedUntil,
      request.leaseId,
      request.max,
      request.maxPerMerchant,
      request.maxPerEndpoint,
      request.usage.map(({ merchantId }) => merchantId),
      request.usage.map(({ endpoint }) => endpoint),
      request.usage.map(({ inFlight }) => inFlight),
      new Date(request.now.getTime() - BACKLOG_AGE_MS),
    ]);
    return rows;
  }

  /**
   * Ends a lease without an attempt. The notification becomes due at `nextAttemptAt`. If `nextAttemptAt` is undefined,
   * the notification is exhausted. Does nothing when the lease has been lost. A row that was superseded meanwhile stays
   * superseded and only loses its lease. `unsigned` shows administrators that the merchant cannot be notified until the
   * missing keys are created.
   */
  async release(
    { id, leaseId }: Pick<LeasedNotification, 'id' | 'leaseId'>,
    nextAttemptAt: Date | undefined,
    unsigned?: SigningFailure,
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

  /** Returns the earliest due time of all pending notifications without a lease. It may be in the future. */
  async findOldestDue(now: Date): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ since: Date | null }[]>(
      `WITH RECURSIVE ${PENDING_ENDPOINTS} SELECT min(first_due) AS since FROM endpoints`,
      [now],
    );
    return row?.since ?? undefined;
  }

  /**
   * Returns the number of notifications that could not be signed, at most 10 000. The number includes exhausted
   * notifications, because an administrator can replay them.
   */
  async countUnsigned(): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: number }]>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM notifications
          WHERE unsigned_since IS NOT NULL AND state IN ('pending', 'exhausted') LIMIT ${MAX_UNSIGNED_COUNT}) AS unsigned`,
    );
    return row.count;
  }
}
