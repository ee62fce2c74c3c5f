import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log contains the actions of administrators in all services, not only in identity (A10). */
export class AuditLogOfAllServices1763500000180 implements MigrationInterface {
  readonly name = 'AuditLogOfAllServices1763500000180';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE audit_log
        ADD COLUMN service text NOT NULL DEFAULT 'identity'
          CONSTRAINT audit_log_service_length CHECK (length(service) BETWEEN 1 AND 64),
        -- Another service may accept the id of a merchant that identity does not know. The entry must not be lost.
        DROP CONSTRAINT audit_log_merchant_id_fkey;
      ALTER TABLE audit_log ALTER COLUMN service DROP DEFAULT;
      COMMENT ON COLUMN audit_log.service IS 'The service whose administration API was called.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
