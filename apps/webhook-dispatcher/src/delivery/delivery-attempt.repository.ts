import { Inject, Injectable } from '@nestjs/common';
import { type ColumnMap, insertedColumns, recordColumns, recordValues, toRecord } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { EndpointKey } from '../endpoint/concurrency-limiter.js';
import type { WebhookResponse } from '../endpoint/webhook-client.js';
import { DELIVERY_ATTEMPT } from '../notifications/columns.js';
import { isFailure } from '../retries/circuit.js';
import type { DeliveryAttemptResult } from '../retries/classify-response.js';
import type { LeasedNotification } from './delivery-lease.repository.js';

/** A delivery attempt that has ended, and its result. */
export interface CompletedDeliveryAttempt {
  readonly notification: Pick<LeasedNotification, 'id' | 'leaseId' | 'paymentStatus' | 'merchantId' | 'endpoint'>;
  readonly response: WebhookResponse;
  readonly result: DeliveryAttemptResult;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

const endpointId = ({ merchantId, endpoint }: EndpointKey): string => `${merchantId} ${endpoint}`;

interface InsertResult {
  /** False when the lease had ended before the result was recorded. */
  readonly isInserted: boolean;
  /** True when this attempt got the first response of the endpoint after an outage. */
  readonly isEndpointRecovered: boolean;
}

/**
 * After an outage the waiting notifications become due immediately. An outage means that the circuit opened again after
 * a failed probe. A single opening is no outage, because the endpoint may reject a few notifications and accept all
 * others. If each accepted notification made the rejected ones due, the rejected notifications would use up all
 * attempts of their schedule within minutes.
 */
const MIN_OUTAGE_OPENINGS = 2;
const RESCHEDULE_BATCH_SIZE = 1_000;

/** A completed attempt, its effect on the notification, and the endpoint. */
const COMPLETED_ATTEMPT = {
  ...DELIVERY_ATTEMPT,
  id: ['id', 'uuid'],
  leaseId: ['lease_id', 'uuid'],
  merchantId: ['merchant_id', 'bigint'],
  endpoint: ['endpoint', 'text'],
  state: ['state', 'text'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
  endedAt: ['ended_at', 'timestamptz'],
} as const satisfies ColumnMap;

/** Records attempts, with their effects on their notifications and endpoints. */
@Injectable()
export class DeliveryAttemptRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Records attempts and their effects, and ends their leases, in one statement.
   *
   * The notification of a failed payment (a Failed) is superseded when its session is paid, even while the notification
   * is in flight. If the endpoint rejects it, the notification stays superseded. If the endpoint acknowledges it, the
   * notification is delivered. In that case the merchant has received the Failed before the notification of the
   * successful payment, which waits for the end of this lease.
   *
   * If an attempt is not a failure, the statement closes the circuit of its endpoint by deleting the row of the
   * circuit.
   */
  async insertAll(attempts: readonly CompletedDeliveryAttempt[]): Promise<InsertResult[]> {
    const rows = attempts.map(({ notification, response, result, startedAt, endedAt }) => ({
      ...toRecord(COMPLETED_ATTEMPT, { ...notification, ...response, ...result, startedAt, endedAt }),
      response: response.text,
      isUp: !isFailure(response),
    }));
    const written = await this.dataSource.query<{ id: string; recovered: EndpointKey[] | null }[]>(
      `WITH attempts AS MATERIALIZED (
       SELECT * FROM jsonb_to_recordset($1) AS attempts(${recordColumns(COMPLETED_ATTEMPT)}, response text, "isUp" boolean)
     ), updated AS (
       UPDATE notifications n
          SET attempt_count = attempt_count + 1, schedule_position = schedule_position + 1, lease_id = NULL, leased_until = NULL,
              unsigned_since = NULL, missing_keys = NULL,
              state = CASE WHEN n.state = 'superseded' AND attempts.state <> 'delivered' THEN n.state ELSE attempts.state END,
              next_attempt_at = CASE WHEN n.state = 'superseded' THEN NULL ELSE attempts."nextAttemptAt" END,
              delivered_at = CASE WHEN attempts.state = 'delivered' THEN attempts."endedAt" ELSE n.delivered_at END
         FROM attempts
        WHERE n.id = attempts.id AND n.lease_id = attempts."leaseId"
       RETURNING n.attempt_count, attempts.*
     ), up AS (
       SELECT merchant_id, endpoint, openings FROM circuits
        WHERE (merchant_id, endpoint) IN (SELECT attempts."merchantId", attempts.endpoint FROM attempts WHERE "isUp")
        ORDER BY merchant_id, endpoint FOR UPDATE
     ), closed AS (
       DELETE FROM circuits USING up
        WHERE circuits.merchant_id = up.merchant_id AND circuits.endpoint = up.endpoint)
     INSERT INTO delivery_attempts (notification_id, attempt_number, ${insertedColumns(DELIVERY_ATTEMPT)}, response)
     SELECT id, attempt_count, ${recordValues(DELIVERY_ATTEMPT, 'updated')}, response FROM updated
     RETURNING notification_id AS id,
       (SELECT jsonb_agg(jsonb_build_object('merchantId', merchant_id, 'endpoint', endpoint)) FROM up WHERE openings >= $2) AS recovered`,
      [JSON.stringify(rows), MIN_OUTAGE_OPENINGS],
    );
    const ids = new Set(written.map(({ id }) => id));
    const recovered = new Set(written[0]?.recovered?.map(endpointId));
    return attempts.map(({ notification }) => ({
      isInserted: ids.has(notification.id),
      // Of several attempts to one endpoint, only the first attempt gets true.
      isEndpointRecovered: recovered.delete(endpointId(notification)),
    }));
  }

  /**
   * Makes all waiting notifications of a recovered endpoint due now. Each batch is a separate transaction. After a
   * crash, the remaining notifications become due by their schedule.
   */
  async makeEndpointDue({ merchantId, endpoint }: EndpointKey, now: Date): Promise<void> {
    for (let count = RESCHEDULE_BATCH_SIZE; count === RESCHEDULE_BATCH_SIZE;)
      [, count] = await this.dataSource.query<[unknown[], number]>(
        `UPDATE notifications SET next_attempt_at = $3
        WHERE id IN (
          SELECT id FROM notifications
           WHERE merchant_id = $1 AND endpoint = $2 AND state = 'pending' AND next_attempt_at > $3
             AND (leased_until IS NULL OR leased_until <= $3) AND unsigned_since IS NULL
           ORDER BY next_attempt_at LIMIT ${RESCHEDULE_BATCH_SIZE} FOR UPDATE SKIP LOCKED)`,
        [merchantId, endpoint, now],
      );
  }
}
