import { Inject, Injectable } from '@nestjs/common';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { afterFailure } from '../retries/circuit.js';
import { CircuitRepository } from './circuit.repository.js';
import type { LeasedNotification } from './delivery-lease.repository.js';

export interface FailureCounted {
  /** When the circuit will be half-open; absent while it is closed. */
  readonly openUntil: Date | undefined;
  readonly wasOpen: boolean;
  /** Notifications that were overdue for longer than their schedule, and are exhausted now. */
  readonly exhausted: number;
}

/**
 * Counts a failed attempt against its endpoint, for every process at once: the row is locked while the rule is applied.
 * Only after failures; a sign of life is written with the attempt itself (delivery-attempt.repository.ts). A crash before
 * it loses one failure of a count, no more: another probe follows an uncounted one at the end of its lease.
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
  ): Promise<FailureCounted> {
    const key = { merchantId, endpoint };
    return inTransaction(this.dataSource, async (tx) => {
      await this.circuits.insertIfAbsent(tx, key);
      const before = await this.circuits.findForUpdate(tx, key);
      // Closed between the two statements: the endpoint lives.
      if (!before) return { openUntil: undefined, wasOpen: false, exhausted: 0 };

      const after = afterFailure(before, leaseId, now);
      await this.circuits.update(tx, key, after);
      const hasFailedProbe = before.probeLeaseId === leaseId;
      const exhausted = hasFailedProbe ? await this.circuits.exhaustOverdue(tx, key, now) : 0;
      return { openUntil: after.openUntil, wasOpen: before.openUntil !== undefined, exhausted };
    });
  }
}
