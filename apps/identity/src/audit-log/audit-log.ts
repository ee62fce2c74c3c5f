import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { insertAuditEntry, listAuditEntries, lockAuditLog } from './audit-log.repository.js';
import type { Change } from './change.js';
import type { ChangeAuthor } from './change-author.js';

/** An entry in the response of `GET /admin/v1/audit-log`. */
export interface AuditEntry extends Change {
  /** Number of the entry. It increases in the order of the commits. */
  readonly entryId: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly changedUTCDate: string;
  readonly actor: string;
  readonly requestId: string;
}

export const AUDIT_PAGE_SIZE = 100;

/** The log of all changes by administrators (A10). It is append-only: the table rejects UPDATE and DELETE. */
@Injectable()
export class AuditLog {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Appends entries. Call this method at the end of a transaction, because it acquires a lock: other transactions that
   * append wait until the commit. Without this lock, entry ids could become visible out of order, and a reader that
   * continues after the last id would miss entries.
   */
  async append(tx: EntityManager, author: ChangeAuthor, ...changes: Change[]): Promise<void> {
    await lockAuditLog(tx);
    for (const change of changes) await insertAuditEntry(tx, author, change, this.clock.now());
  }

  /** At most {@link AUDIT_PAGE_SIZE} entries with a higher entryId than `after`, oldest first. */
  async read(after: number): Promise<AuditEntry[]> {
    const rows = await listAuditEntries(this.dataSource.manager, after, AUDIT_PAGE_SIZE);
    return rows.map(({ at, ...entry }) => {
      const presentFields = Object.entries(entry).filter(([, value]) => value !== null);
      return { ...Object.fromEntries(presentFields), changedUTCDate: at.toISOString() } as unknown as AuditEntry;
    });
  }
}
