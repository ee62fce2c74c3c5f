import type { ChangeAuthor } from '@svc/auth';
import type { EntityManager } from 'typeorm';
import type { Change } from './change.js';

/** Key of the PostgreSQL advisory lock. The number has no meaning, but no other lock may use it. */
const APPEND_LOCK = 1763500000100;

/** Prevents other transactions from appending entries until this transaction ends. */
export async function lockAuditLog(tx: EntityManager): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock($1)`, [APPEND_LOCK]);
}

/** An entry that has no number yet. */
export interface NewAuditEntry extends Change<string> {
  /** The service whose administration API was called. */
  readonly service: string;
  readonly author: ChangeAuthor;
  readonly at: Date;
}

/** Uses SQL, because `insert` of TypeORM would also read the id of the new row, and no caller needs the id. */
export async function insertAuditEntry(
  tx: EntityManager,
  { service, author, at, action, merchantId, siteId, organisationId, credentialId, before, after }: NewAuditEntry,
): Promise<void> {
  await tx.query(
    `INSERT INTO audit_log (at, service, actor, request_id, action, merchant_id, site_id, organisation_id, credential_id, before, after)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      at,
      service,
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

const COLUMNS = `entry_id AS "entryId", at, service, actor, request_id AS "requestId", action, merchant_id AS "merchantId",
  site_id AS "siteId", organisation_id AS "organisationId", credential_id AS "credentialId", before, after`;

/** Entries with a higher id than `after`, oldest first. */
export function listAuditEntries(
  db: EntityManager,
  after: number,
  max: number,
): Promise<(Record<string, unknown> & { at: Date })[]> {
  return db.query(`SELECT ${COLUMNS} FROM audit_log WHERE entry_id > $1 ORDER BY entry_id LIMIT ${max}`, [after]);
}

/** Entries with a lower id than `before`, newest first. */
export function listAuditEntriesBefore(
  db: EntityManager,
  before: number,
  max: number,
): Promise<(Record<string, unknown> & { at: Date })[]> {
  return db.query(`SELECT ${COLUMNS} FROM audit_log WHERE entry_id < $1 ORDER BY entry_id DESC LIMIT ${max}`, [before]);
}
