import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock, DomainError } from '@svc/kernel';
import { Restores } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { listDays } from './find-forgotten-movements.js';
import { type RestoreStatus, RestoreStatusQuery } from './restore-status.query.js';

/** Opens this service for payments after a restore, when the books agree. */
@Injectable()
export class OpenAfterRestore {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Restores) private readonly restores: Restores,
    @Inject(RestoreStatusQuery) private readonly status: RestoreStatusQuery,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  findStatus(): Promise<RestoreStatus | undefined> {
    return this.status.find((restoredTo) => listDays(restoredTo, this.clock.now()));
  }

  /**
   * Throws `resource.conflict` with the reason while something is not repaired. The comparison with the bank is always
   * required. With `acceptsDifferences`, unresolved movements and books that differ are left to a person.
   */
  async execute(author: ChangeAuthor, acceptsDifferences: boolean): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const status = await this.status.find((restoredTo) => listDays(restoredTo, this.clock.now()), tx);
      if (!status || status.state === 'open')
        throw new DomainError('resource.not-found', { message: 'No restore is open.' });
      const obstacle = findObstacle(status, acceptsDifferences);
      if (obstacle !== undefined) throw new DomainError('resource.conflict', { message: obstacle });
      if (!(await this.restores.close(status, tx))) throw new DomainError('resource.conflict');
      const { unresolved, daysToReconcile } = status;
      const accepted = acceptsDifferences ? { unresolved, daysToReconcile } : {};
      await this.audit.append(tx, author, {
        action: 'restore.opened',
        after: { restoreId: status.restoreId, restoredToUTCDate: status.restoredToUTCDate, ...accepted },
      });
    });
  }
}

/** The first reason why payments must not begin yet. */
export function findObstacle(status: RestoreStatus, acceptsDifferences: boolean): string | undefined {
  if (status.state === 'replaying') return 'Events of other services are missing: wait until they have arrived.';
  if (status.repairedUTCDate === null) return 'The database was not compared with the bank: ./svc admin restore repair';
  if (status.reversalsOpen > 0) return `The bank has not confirmed ${status.reversalsOpen} reversals.`;
  if (status.outcomesMissing > 0) return `${status.outcomesMissing} charges or refunds have no outcome yet.`;
  if (acceptsDifferences) return undefined;
  if (status.unresolved !== 0) return `${status.unresolved} movements are unresolved: ./svc admin restore repair`;
  const [day] = status.daysToReconcile;
  return day && `The books of ${day} were not found to agree since the repair: ./svc admin reconcile --day ${day}`;
}
