import { Inject, Injectable } from '@nestjs/common';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { circuitAfterFailure } from '../retries/circuit.js';
import { CircuitRepository } from './circuit.repository.js';
import type { LeasedNotification } from './delivery-lease.repository.js';

interface CircuitChange {
  /** Time at which the circuit becomes half-open. Undefined while the circuit is closed. */
  readonly openUntil: Date | undefined;
  readonly wasOpen: boolean;
  /** Number of notifications that are now exhausted, because they are too old and overdue for too long (circuit.ts). */
  readonly exhausted: number;
}

/**
 * Counts a failed attempt in the circuit of its endpoint. All processes share the row of the circuit, so the row is
 * locked while its new state is computed. An attempt that is not a failure is not counted here, because the statement
 * that records the attempt also closes the circuit (delivery-attempt.repository.ts). If the process crashes before this
 * transaction, the failure is not counted. If the failed attempt was the probe, the circuit allows another probe at the
 * end of the lease.
 */
@Injectable()
export class CountFailure {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CircuitRepository) private readonly circuits: CircuitRepository,
  ) {}

  async execute(
    { merchantId, endpoint, leaseId }: Pick<LeasedNotification, 'merchantId' | 'endpoint' | 'leaseId'>,
    now: Date,
  ): Promise<CircuitChange> {
    const key = { merchantId, endpoint };
    return inTransaction(this.dataSource, async (tx) => {
      await this.circuits.insertIfAbsent(tx, key);
      const before = await this.circuits.findForUpdate(tx, key);
      // Another attempt succeeded between the two statements and closed the circuit.
      if (!before) return { openUntil: undefined, wasOpen: false, exhausted: 0 };

      const after = circuitAfterFailure(before, leaseId, now);
      await this.circuits.update(tx, key, after);
      const hasFailedProbe = before.probeLeaseId === leaseId;
      const exhausted = hasFailedProbe ? await this.circuits.exhaustOverdue(tx, key, now) : 0;
      return { openUntil: after.openUntil, wasOpen: before.openUntil !== undefined, exhausted };
    });
  }
}
