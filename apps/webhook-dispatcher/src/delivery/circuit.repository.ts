import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { EndpointKey } from '../endpoint/concurrency-limiter.js';
import { type Circuit, MAX_BACKLOG_AGE_MS, MIN_OVERDUE_MS } from '../retries/circuit.js';

/** Maximum number of notifications that one failed probe exhausts. The next failed probe exhausts more. */
const EXHAUST_BATCH_SIZE = 1_000;
/** Circuits of more endpoints are not counted, so that an outage of many merchants does not make the query slow. */
const MAX_COUNTED = 1_000;

/** Circuits of failing endpoints. */
@Injectable()
export class CircuitRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The number of circuits that send nothing now, and of those that wait for a probe or its result. */
  async countByState(now: Date): Promise<{ open: number; halfOpen: number }> {
    const [row] = await this.dataSource.query<[{ open: number; halfOpen: number }]>(
      `SELECT count(*) FILTER (WHERE open_until > $1 AND probe_lease_id IS NULL) AS open,
              count(*) FILTER (WHERE open_until <= $1 OR probe_lease_id IS NOT NULL) AS "halfOpen"
         FROM (SELECT open_until, probe_lease_id FROM circuits LIMIT ${MAX_COUNTED}) AS counted`,
      [now],
    );
    return row;
  }

  async insertIfAbsent(tx: EntityManager, { merchantId, endpoint }: EndpointKey): Promise<void> {
    await tx.query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING`,
      [merchantId, endpoint],
    );
  }

  /** Locks the row until the end of the transaction. */
  async findForUpdate(tx: EntityManager, { merchantId, endpoint }: EndpointKey): Promise<Circuit | undefined> {
    const [row] = await tx.query<CircuitRow[]>(
      `SELECT failures, openings, open_until AS "openUntil", probe_lease_id AS "probeLeaseId"
         FROM circuits WHERE merchant_id = $1 AND endpoint = $2 FOR UPDATE`,
      [merchantId, endpoint],
    );
    return row && circuitFromRow(row);
  }

  async update(tx: EntityManager, { merchantId, endpoint }: EndpointKey, circuit: Circuit): Promise<void> {
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

  /**
   * Exhausts the notifications of the endpoint that are too old and have been overdue for too long (circuit.ts).
   * Returns their number.
   */
  async exhaustOverdue(tx: EntityManager, { merchantId, endpoint }: EndpointKey, now: Date): Promise<number> {
    const before = (ms: number): Date => new Date(now.getTime() - ms);
    const [, count] = await tx.query<[unknown[], number]>(
      `UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL, lease_id = NULL, leased_until = NULL
      WHERE id IN (
        SELECT id FROM notifications
         WHERE merchant_id = $1 AND endpoint = $2 AND state = 'pending' AND next_attempt_at <= $4
           AND coalesce(replayed_at, created_at) <= $5
           AND (leased_until IS NULL OR leased_until <= $3)
         ORDER BY next_attempt_at LIMIT ${EXHAUST_BATCH_SIZE} FOR UPDATE SKIP LOCKED)`,
      [merchantId, endpoint, now, before(MIN_OVERDUE_MS), before(MAX_BACKLOG_AGE_MS)],
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

function circuitFromRow({ failures, openings, openUntil, probeLeaseId }: CircuitRow): Circuit {
  return { failures, openings, openUntil: openUntil ?? undefined, probeLeaseId: probeLeaseId ?? undefined };
}
