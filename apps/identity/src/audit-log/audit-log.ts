import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { insertAuditEntry, listAuditEntries, lockAuditLog } from './audit-log.repository.js';
import type { Change } from './change.js';
import type { ChangeAuthor } from './change-author.js';

/** An entry as `GET /admin/v1/audit-log` shows it. */
export interface AuditEntry extends Change {
  /** Grows with each entry, in the order of the commits. */
  readonly entryId: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly changedUTCDate: string;
  readonly actor: string;
  readonly requestId: string;
}

export const AUDIT_PAGE_SIZE = 100;

/** The append-only record of every change an administrator made (A10); the table refuses UPDATE and DELETE. */
@Injectable()
export class AuditLog {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Call it last in a transaction: whoever appends holds up the others until the commit. Without that, entry ids would
   * become visible out of order, and a reader that goes on after the last id it saw would miss entries for ever.
   */
  async append(tx: EntityManager, author: ChangeAuthor, ...changes: Change[]): Promise<void> {
    await lockAuditLog(tx);
    for (const change of changes) await insertAuditEntry(tx, author, change, this.clock.now());
  }

  /** Oldest first, at most {@link AUDIT_PAGE_SIZE}, those with a higher entryId than `after`. */
  async read(after: number): Promise<AuditEntry[]> {
    const rows = await listAuditEntries(this.dataSource.manager, after, AUDIT_PAGE_SIZE);
    return rows.map(({ at, ...entry }) => {
      const known = Object.entries(entry).filter(([, value]) => value !== null);
      return { ...Object.fromEntries(known), changedUTCDate: at.toISOString() } as unknown as AuditEntry;
    });
  }
}
