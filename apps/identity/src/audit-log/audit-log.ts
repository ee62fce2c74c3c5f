import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Administered, EventEnvelope } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import {
  insertAuditEntry,
  listAuditEntries,
  listAuditEntriesBefore,
  lockAuditLog,
  type NewAuditEntry,
} from './audit-log.repository.js';
import type { Change } from './change.js';

/** An entry in the response of `GET /admin/v1/audit-log`. */
export interface AuditEntry extends Change<string> {
  /** Number of the entry. It increases in the order of the commits. */
  readonly entryId: number;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly changedUTCDate: string;
  /** The service whose administration API was called. */
  readonly service: string;
  readonly actor: string;
  readonly requestId: string;
}

const AUDIT_PAGE_SIZE = 100;

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
    const at = this.clock.now();
    await this.insert(
      tx,
      changes.map((change) => ({ ...change, service: 'identity', author, at })),
    );
  }

  /** Appends what administrators did in other services. Like {@link append}, at the end of a transaction. */
  async appendFromServices(tx: EntityManager, events: readonly EventEnvelope<Administered>[]): Promise<void> {
    const entries = events.map(({ type, occurredAt, payload: { actor, requestId, ...change } }) => ({
      ...change,
      service: type.slice(0, type.indexOf('.')),
      author: { actor, requestId },
      at: new Date(occurredAt),
    }));
    await this.insert(tx, entries);
  }

  private async insert(tx: EntityManager, entries: readonly NewAuditEntry[]): Promise<void> {
    await lockAuditLog(tx);
    for (const entry of entries) await insertAuditEntry(tx, entry);
  }

  /** At most {@link AUDIT_PAGE_SIZE} entries with a higher entryId than `after`, oldest first. */
  async read(after: number): Promise<AuditEntry[]> {
    return (await listAuditEntries(this.dataSource.manager, after, AUDIT_PAGE_SIZE)).map(toAuditEntry);
  }

  /** At most {@link AUDIT_PAGE_SIZE} entries with a lower entryId than `before`, newest first. */
  async readNewest(before: number): Promise<AuditEntry[]> {
    return (await listAuditEntriesBefore(this.dataSource.manager, before, AUDIT_PAGE_SIZE)).map(toAuditEntry);
  }
}

function toAuditEntry({ at, ...entry }: Record<string, unknown> & { at: Date }): AuditEntry {
  const presentFields = Object.entries(entry).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(presentFields), changedUTCDate: at.toISOString() } as unknown as AuditEntry;
}
