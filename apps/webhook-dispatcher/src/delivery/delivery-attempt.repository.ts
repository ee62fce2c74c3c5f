import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Answer } from '../endpoint/post-notification.js';
import { isFailure } from '../retries/circuit.js';
import type { LeasedNotification } from './delivery-lease.repository.js';
import type { TryResult } from '../retries/try-result.js';

/** A try that has ended, and what it means. */
export interface Try {
  readonly notification: Pick<LeasedNotification, 'id' | 'leaseId' | 'paymentStatus' | 'merchantId' | 'endpoint'>;
  readonly answer: Answer;
  readonly result: TryResult;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

type Lane = Pick<LeasedNotification, 'merchantId' | 'endpoint'>;

const nameOf = ({ merchantId, endpoint }: Lane): string => `${merchantId} ${endpoint}`;

interface WrittenTry {
  readonly isWritten: boolean;
  /** Its endpoint has answered after an outage. */
  readonly isBack: boolean;
}

/**
 * A circuit that opened once more after a probe. Once alone can be a few notifications that the receiver cannot take while it takes
 * all others: brought forward with each sign of life, those would use up their schedule within minutes.
 */
const OPENINGS_OF_OUTAGE = 2;
const AT_ONCE = 1_000;

/** The attempts at notifications, and what each means for its notification and its endpoint. */
@Injectable()
export class DeliveryAttemptRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Writes each attempt and what it means, and ends its lease: one statement; returns for which of them it was done.
   *
   * A Failed that was superseded while it was on the wire stays superseded, unless the endpoint acknowledged it: then
   * the merchant has seen it, before the Success, which waits for the end of this lease.
   *
   * An endpoint that gave a sign of life has a closed circuit, which is no row (circuit.ts): mostly there is none to delete.
   */
  async insertAll(tries: readonly Try[]): Promise<WrittenTry[]> {
    const rows = tries.map(({ notification, answer, result, startedAt, endedAt }) => ({
      id: notification.id,
      lease: notification.leaseId,
      state: result.state,
      next: result.nextAttemptAt ?? null,
      started: startedAt,
      ended: endedAt,
      duration: answer.durationMs,
      outcome: result.outcome,
      status: answer.statusCode ?? null,
      error: answer.errorClass ?? null,
      text: answer.text ?? null,
      merchant: notification.merchantId,
      endpoint: notification.endpoint,
      lives: !isFailure(answer),
    }));
    const written = await this.dataSource.query<{ id: string; back: Lane[] | null }[]>(
      `WITH given AS MATERIALIZED (
       SELECT * FROM jsonb_to_recordset($1) AS given(
         id uuid, lease uuid, state text, next timestamptz, started timestamptz, ended timestamptz, duration int,
         outcome text, status int, error text, text text, merchant bigint, endpoint text, lives boolean)
     ), tried AS (
       UPDATE notifications n
          SET tries = tries + 1, schedule_position = schedule_position + 1, lease_id = NULL, leased_until = NULL,
              unsigned_since = NULL, missing_keys = NULL,
              state = CASE WHEN n.state = 'superseded' AND given.state <> 'delivered' THEN n.state ELSE given.state END,
              next_attempt_at = CASE WHEN n.state = 'superseded' THEN NULL ELSE given.next END,
              delivered_at = CASE WHEN given.state = 'delivered' THEN given.ended ELSE n.delivered_at END
         FROM given
        WHERE n.id = given.id AND n.lease_id = given.lease
       RETURNING n.id, n.tries, given.started, given.duration, given.outcome, given.status, given.error, given.text
     ), living AS (
       SELECT merchant_id, endpoint, openings FROM circuits
        WHERE (merchant_id, endpoint) IN (SELECT given.merchant, given.endpoint FROM given WHERE lives)
        ORDER BY merchant_id, endpoint FOR UPDATE
     ), closed AS (
       DELETE FROM circuits USING living
        WHERE circuits.merchant_id = living.merchant_id AND circuits.endpoint = living.endpoint)
     INSERT INTO delivery_attempts (notification_id, try, started_at, duration_ms, outcome, status_code, error_class, answer)
     SELECT id, tries, started, duration, outcome, status, error, text FROM tried
     RETURNING notification_id AS id,
       (SELECT jsonb_agg(jsonb_build_object('merchantId', merchant_id, 'endpoint', endpoint)) FROM living WHERE openings >= $2) AS back`,
      [JSON.stringify(rows), OPENINGS_OF_OUTAGE],
    );
    const ids = new Set(written.map(({ id }) => id));
    const back = new Set(written[0]?.back?.map(nameOf));
    return tries.map(({ notification }) => ({
      isWritten: ids.has(notification.id),
      // Of several that were answered at once, the first.
      isBack: back.delete(nameOf(notification)),
    }));
  }

  /**
   * What waited for the next try of its own schedule is due now: its endpoint is back. In portions, each committed; what a crash leaves
   * out waits for its schedule, as it would have.
   */
  async bringForward({ merchantId, endpoint }: Lane, now: Date): Promise<void> {
    for (let count = AT_ONCE; count === AT_ONCE;)
      [, count] = await this.dataSource.query<[unknown[], number]>(
        `UPDATE notifications SET next_attempt_at = $3
        WHERE id IN (
          SELECT id FROM notifications
           WHERE merchant_id = $1 AND endpoint = $2 AND state = 'pending' AND next_attempt_at > $3
             AND (leased_until IS NULL OR leased_until <= $3) AND unsigned_since IS NULL
           ORDER BY next_attempt_at LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)`,
        [merchantId, endpoint, now],
      );
  }
}
