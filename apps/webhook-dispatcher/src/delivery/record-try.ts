import type { DataSource } from 'typeorm';
import type { Answer } from '../endpoint/post-notification.js';
import { isFailure } from './circuit.js';
import type { ClaimedNotification } from './claim-notifications.js';
import type { TryResult } from './try-result.js';

/**
 * Writes the attempt and what it means in one statement, and ends the lease. Fenced by the lease: when another
 * worker took the notification over meanwhile, nothing is written and the answer is false; that worker sends it
 * again under the same webhook-id (E8).
 *
 * A Failed that was superseded while it was on the wire stays superseded, unless the endpoint acknowledged it: then
 * the merchant has seen it, before the Success, which waits for the end of this lease.
 *
 * An endpoint that gave a sign of life has a closed circuit, which is no row (circuit.ts): mostly there is none to delete.
 */
export async function recordTry(
  dataSource: DataSource,
  { id, leaseId, merchantId, endpoint }: Pick<ClaimedNotification, 'id' | 'leaseId' | 'merchantId' | 'endpoint'>,
  answer: Answer,
  result: TryResult,
  startedAt: Date,
  now: Date,
): Promise<boolean> {
  const written = await dataSource.query<unknown[]>(
    `WITH tried AS (
       UPDATE notifications
          SET tries = tries + 1, schedule_position = schedule_position + 1, lease_id = NULL, leased_until = NULL,
              state = CASE WHEN state = 'superseded' AND $3 <> 'delivered' THEN state ELSE $3 END,
              next_attempt_at = CASE WHEN state = 'superseded' THEN NULL ELSE $4::timestamptz END,
              delivered_at = CASE WHEN $3 = 'delivered' THEN $5::timestamptz ELSE delivered_at END
        WHERE id = $1 AND lease_id = $2
       RETURNING id, tries), closed AS (
       DELETE FROM circuits WHERE $12 AND merchant_id = $13 AND endpoint = $14)
     INSERT INTO delivery_attempts (notification_id, try, started_at, duration_ms, outcome, status_code, error_class, answer)
     SELECT id, tries, $6, $7, $8, $9, $10, $11 FROM tried
     RETURNING try`,
    [
      id,
      leaseId,
      result.state,
      result.nextAttemptAt ?? null,
      now,
      startedAt,
      answer.durationMs,
      result.outcome,
      answer.statusCode ?? null,
      answer.errorClass ?? null,
      answer.text ?? null,
      !isFailure(answer),
      merchantId,
      endpoint,
    ],
  );
  return written.length > 0;
}
