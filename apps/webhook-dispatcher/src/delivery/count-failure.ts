import { inTransaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { afterFailure, type Circuit, HELD_UP_MAX_MS, OVERDUE_MIN_MS } from '../retries/circuit.js';
import type { ClaimedNotification } from './claim-notifications.js';

export interface FailureCounted {
  /** When the circuit will be half-open; absent while it is closed. */
  readonly openUntil: Date | undefined;
  readonly wasOpen: boolean;
  /** Notifications that were overdue for longer than their schedule, and are exhausted now. */
  readonly exhausted: number;
}

/** Notifications given up at a time; the next probe that fails gives up the next. */
const EXHAUSTED_MAX = 1_000;

/**
 * Counts a failed try against its endpoint, for every process at once: the row is locked while the rule is applied.
 * Only after failures; that an endpoint lives is written with the try itself (record-tries.ts). A crash before it loses
 * one failure of a count, no more: a probe that nobody counted is followed by another at the end of its lease.
 */
export async function countFailure(
  dataSource: DataSource,
  { merchantId, endpoint, leaseId }: Pick<ClaimedNotification, 'merchantId' | 'endpoint' | 'leaseId'>,
  now: Date,
): Promise<FailureCounted> {
  return inTransaction(dataSource, async (tx) => {
    await tx.query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING`,
      [merchantId, endpoint],
    );
    const [row] = await tx.query<CircuitRow[]>(
      `SELECT failures, openings, open_until AS "openUntil", probe_lease_id AS "probeLeaseId"
         FROM circuits WHERE merchant_id = $1 AND endpoint = $2 FOR UPDATE`,
      [merchantId, endpoint],
    );
    // Closed between the two statements: the endpoint lives.
    if (!row) return { openUntil: undefined, wasOpen: false, exhausted: 0 };

    const before = circuitOf(row);
    const after = afterFailure(before, leaseId, now);
    await tx.query(
      `UPDATE circuits SET failures = $3, openings = $4, open_until = $5, probe_lease_id = $6
        WHERE merchant_id = $1 AND endpoint = $2`,
      [merchantId, endpoint, after.failures, after.openings, after.openUntil ?? null, after.probeLeaseId ?? null],
    );
    const hasFailedProbe = before.probeLeaseId === leaseId;
    const exhausted = hasFailedProbe ? await exhaustOverdue(tx, { merchantId, endpoint }, now) : 0;
    return { openUntil: after.openUntil, wasOpen: before.openUntil !== undefined, exhausted };
  });
}

interface CircuitRow {
  failures: number;
  openings: number;
  openUntil: Date | null;
  probeLeaseId: string | null;
}

function circuitOf({ failures, openings, openUntil, probeLeaseId }: CircuitRow): Circuit {
  return { failures, openings, openUntil: openUntil ?? undefined, probeLeaseId: probeLeaseId ?? undefined };
}

async function exhaustOverdue(
  tx: Pick<DataSource, 'query'>,
  { merchantId, endpoint }: Pick<ClaimedNotification, 'merchantId' | 'endpoint'>,
  now: Date,
): Promise<number> {
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  const [, count] = await tx.query<[unknown[], number]>(
    `UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL, lease_id = NULL, leased_until = NULL
      WHERE id IN (
        SELECT id FROM notifications
         WHERE merchant_id = $1 AND endpoint = $2 AND state = 'pending' AND next_attempt_at <= $4
           AND coalesce(replayed_at, created_at) <= $5
           AND (leased_until IS NULL OR leased_until <= $3)
         ORDER BY next_attempt_at LIMIT ${EXHAUSTED_MAX} FOR UPDATE SKIP LOCKED)`,
    [merchantId, endpoint, now, before(OVERDUE_MIN_MS), before(HELD_UP_MAX_MS)],
  );
  return count;
}
