import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The role of the service may only append to the audit log (ADR 45). Triggers also prevent changes by its owner. */
export class AppendOnlyAuditLog1763500000160 implements MigrationInterface {
  readonly name = 'AppendOnlyAuditLog1763500000160';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`SELECT revoke_from_others('audit_log', 'UPDATE, DELETE, TRUNCATE')`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
