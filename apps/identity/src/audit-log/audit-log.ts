import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { insertAuditEntry, listAuditEntries, lockAuditLog } from './audit-log.repository.js';
import type { Change } from './change.js';
import type { ChangeAuthor } from './change-author.js';

/** An entry in the response of `GET /admin/v1/audit-log`. */
export interface AuditEntry extends Change {
  /** Grows with each entry, in the order of the commits. */
  readonly entryId: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly changedUTCDate: string;
  readonly actor: string;
  readonly requestId: string;
}

export const AUDIT_PAGE_SIZE = 100;

/** The append-only log of all changes by administrators (A10); the table rejects UPDATE and DELETE. */
@Injectable()
export class AuditLog {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Call it last in a transaction: it blocks other transactions that append until the commit. Without the lock, entry ids
   * could become visible out of order, and a reader that continues after the last id would miss entries.
   */
  async append(tx: EntityManager, author: ChangeAuthor, ...changes: Change[]): Promise<void> {
    await lockAuditLog(tx);
    for (const change of changes) await insertAuditEntry(tx, author, change, this.clock.now());
  }

  /** At most {@link AUDIT_PAGE_SIZE} entries with a higher entryId than `after`, oldest first. */
  async read(after: number): Promise<AuditEntry[]> {
    const rows = await listAuditEntries(this.dataSource.manager, after, AUDIT_PAGE_SIZE);
    return rows.map(({ at, ...entry }) => {
      const present = Object.entries(entry).filter(([, value]) => value !== null);
      return { ...Object.fromEntries(present), changedUTCDate: at.toISOString() } as unknown as AuditEntry;
    });
  }
}
