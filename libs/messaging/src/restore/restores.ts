import type { Clock } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';

/** A restore of this service's database from a backup, until the service is ready again. */
export interface OpenRestore {
  readonly restoreId: string;
  /** The database contains the transactions that were committed before this time. */
  readonly restoredTo: Date;
  /** When the script recorded the restore. */
  readonly markedAt: Date;
  /** When this service had handled the events that the restore had forgotten. Null before. */
  readonly replayedAt: Date | null;
}

/**
 * Restores of this service's database. The script `deploy/backup/mark-restored.sql` records a restore before the service
 * starts, so a process need not search for a restore while it runs.
 */
export class Restores {
  private isOpen = true;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Undefined, without a query, when this process has seen that no restore is open. */
  async findOpen(tx?: EntityManager): Promise<OpenRestore | undefined> {
    if (!this.isOpen) return undefined;
    const [row] = await (tx ?? this.dataSource).query<OpenRestore[]>(
      `SELECT restore_id AS "restoreId", restored_to AS "restoredTo", marked_at AS "markedAt", replayed_at AS "replayedAt"
         FROM restores WHERE closed_at IS NULL`,
    );
    if (!row) this.isOpen = false;
    return row;
  }

  /** Calls `schedule` once for a restore, in the transaction that records it. */
  async requestReplays({ restoreId }: OpenRestore, schedule: (tx: Transaction) => Promise<void>): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const [, count] = await tx.query<[unknown[], number]>(
        `UPDATE restores SET replays_requested_at = $2 WHERE restore_id = $1 AND replays_requested_at IS NULL`,
        [restoreId, this.clock.now()],
      );
      if (count > 0) await schedule(tx);
    });
  }

  async markReplayed({ restoreId }: OpenRestore): Promise<void> {
    await this.dataSource.query(
      `UPDATE restores SET replayed_at = $2 WHERE restore_id = $1 AND replayed_at IS NULL AND replays_requested_at IS NOT NULL`,
      [restoreId, this.clock.now()],
    );
  }

  /** The service becomes ready. False if the replays are not complete, or if another call has closed the restore. */
  async close({ restoreId }: Pick<OpenRestore, 'restoreId'>, tx?: EntityManager): Promise<boolean> {
    const [, count] = await (tx ?? this.dataSource).query<[unknown[], number]>(
      `UPDATE restores SET closed_at = $2 WHERE restore_id = $1 AND closed_at IS NULL AND replayed_at IS NOT NULL`,
      [restoreId, this.clock.now()],
    );
    return count > 0;
  }
}
