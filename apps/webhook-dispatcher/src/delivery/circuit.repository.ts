import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Circuit, HELD_UP_MAX_MS, OVERDUE_MIN_MS } from '../retries/circuit.js';
import type { LeasedNotification } from './delivery-lease.repository.js';

/** Whose circuit: a merchant's at one host and port. */
export type CircuitKey = Pick<LeasedNotification, 'merchantId' | 'endpoint'>;

/** Notifications given up at a time; the next probe that fails gives up the next. */
const EXHAUSTED_MAX = 1_000;

/** The circuits of endpoints that fail. */
@Injectable()
export class CircuitRepository {
  async insertIfAbsent(tx: EntityManager, { merchantId, endpoint }: CircuitKey): Promise<void> {
    await tx.query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING`,
      [merchantId, endpoint],
    );
  }

  /** Locked until the end of the transaction. */
  async findForUpdate(tx: EntityManager, { merchantId, endpoint }: CircuitKey): Promise<Circuit | undefined> {
    const [row] = await tx.query<CircuitRow[]>(
      `SELECT failures, openings, open_until AS "openUntil", probe_lease_id AS "probeLeaseId"
         FROM circuits WHERE merchant_id = $1 AND endpoint = $2 FOR UPDATE`,
      [merchantId, endpoint],
    );
    return row && circuitOf(row);
  }

  async update(tx: EntityManager, { merchantId, endpoint }: CircuitKey, circuit: Circuit): Promise<void> {
    await tx.query(
      `UPDATE circuits SET failures = $3, openings = $4, open_until = $5, probe_lease_id = $6
        WHERE merchant_id = $1 AND endpoint = $2`,
      [
        merchantId,
        endpoint,
        circuit.failures,
        circuit.openings,
        circuit.openUntil ?? null,
        circuit.probeLeaseId ?? null,
      ],
    );
  }

  /** Gives up what has been overdue for longer than its schedule; returns how many. */
  async exhaustOverdue(tx: EntityManager, { merchantId, endpoint }: CircuitKey, now: Date): Promise<number> {
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
