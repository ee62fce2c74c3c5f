import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import type { ChangeAuthor } from './change-author.js';

/** What changed. `before` and `after` hold what a person needs to understand the change, never a secret. */
export interface Change {
  readonly action:
    | 'merchant.created'
    | 'merchant.renamed'
    | 'merchant.changed'
    | 'organisation.created'
    | 'organisation.renamed'
    | 'partner-key.created'
    | 'partner-key.revoked'
    | 'api-token.created'
    | 'api-token.revoked'
    | 'token-key.created'
    | 'token-key.withdrawn'
    | 'site.created'
    | 'site.changed'
    | 'api-key.created'
    | 'api-key.made-primary'
    | 'api-key.no-longer-primary'
    | 'api-key.revoked'
    | 'webhook-secret.created'
    | 'webhook-secret.revoked';
  /** Of a change at a merchant. */
  readonly merchantId?: number;
  readonly siteId?: number | undefined;
  /** UUID. Of a change at a partner. */
  readonly organisationId?: string;
  /** keyId, tokenId, secretId or kid. */
  readonly credentialId?: string | undefined;
  readonly before?: object;
  readonly after?: object;
}

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

/** A number of our own among PostgreSQL's advisory locks. */
const APPENDING = 1763500000100;

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
    await tx.query(`SELECT pg_advisory_xact_lock($1)`, [APPENDING]);
    for (const { action, merchantId, siteId, organisationId, credentialId, before, after } of changes) {
      await tx.query(
        `INSERT INTO audit_log (at, actor, request_id, action, merchant_id, site_id, organisation_id, credential_id, before, after)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          this.clock.now(),
          author.actor,
          author.requestId,
          action,
          merchantId ?? null,
          siteId ?? null,
          organisationId ?? null,
          credentialId ?? null,
          before ? JSON.stringify(before) : null,
          after ? JSON.stringify(after) : null,
        ],
      );
    }
  }

  /** Oldest first, at most {@link AUDIT_PAGE_SIZE}, those with a higher entryId than `after`. */
  async read(after: number): Promise<AuditEntry[]> {
    const rows = await this.dataSource.query<(Record<string, unknown> & { at: Date })[]>(
      `SELECT entry_id AS "entryId", at, actor, request_id AS "requestId", action, merchant_id AS "merchantId",
              site_id AS "siteId", organisation_id AS "organisationId", credential_id AS "credentialId", before, after
         FROM audit_log WHERE entry_id > $1 ORDER BY entry_id LIMIT ${AUDIT_PAGE_SIZE}`,
      [after],
    );
    return rows.map(({ at, ...entry }) => {
      const known = Object.entries(entry).filter(([, value]) => value !== null);
      return { ...Object.fromEntries(known), changedUTCDate: at.toISOString() } as unknown as AuditEntry;
    });
  }
}
