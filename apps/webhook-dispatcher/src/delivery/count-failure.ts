import { Inject, Injectable } from '@nestjs/common';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { afterFailure } from '../retries/circuit.js';
import { CircuitRepository } from './circuit.repository.js';
import type { LeasedNotification } from './delivery-lease.repository.js';

export interface CircuitChange {
  /** When the circuit becomes half-open; undefined while it is closed. */
  readonly openUntil: Date | undefined;
  readonly wasOpen: boolean;
  /** Number of notifications that were overdue for longer than their schedule and are now exhausted. */
  readonly exhausted: number;
}

/**
 * Counts a failed attempt of an endpoint, over all processes: it locks the row while it computes the new state. Only for
 * failures; the statement that records another attempt closes the circuit (delivery-attempt.repository.ts). A crash before
 * this transaction loses one failure of the count: after an uncounted probe, another one follows at the end of its lease.
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
      // Closed between the two statements: the endpoint is up.
      if (!before) return { openUntil: undefined, wasOpen: false, exhausted: 0 };

      const after = afterFailure(before, leaseId, now);
      await this.circuits.update(tx, key, after);
      const hasFailedProbe = before.probeLeaseId === leaseId;
      const exhausted = hasFailedProbe ? await this.circuits.exhaustOverdue(tx, key, now) : 0;
      return { openUntil: after.openUntil, wasOpen: before.openUntil !== undefined, exhausted };
    });
  }
}
