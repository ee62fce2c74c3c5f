import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The service may add to the audit log, and may change nothing of it (ADR 45): its triggers say the same to the owner. */
export class AppendOnlyAuditLog1763500000160 implements MigrationInterface {
  readonly name = 'AppendOnlyAuditLog1763500000160';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`SELECT revoke_from_others('audit_log', 'UPDATE, DELETE, TRUNCATE')`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
