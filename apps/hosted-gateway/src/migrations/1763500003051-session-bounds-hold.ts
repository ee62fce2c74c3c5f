import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Validates the constraints of SessionBounds for older rows, without blocking other transactions. */
export class SessionBoundsHold1763500003051 implements MigrationInterface {
  readonly name = 'SessionBoundsHold1763500003051';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '5min';
      ALTER TABLE sessions
        VALIDATE CONSTRAINT sessions_merchant_name,
        VALIDATE CONSTRAINT sessions_request_id,
        VALIDATE CONSTRAINT sessions_fingerprint,
        VALIDATE CONSTRAINT sessions_merchant_order_id,
        VALIDATE CONSTRAINT sessions_notification_url,
        VALIDATE CONSTRAINT sessions_return_url,
        VALIDATE CONSTRAINT sessions_cancel_url,
        VALIDATE CONSTRAINT sessions_origin,
        VALIDATE CONSTRAINT sessions_site_name,
        VALIDATE CONSTRAINT sessions_custom_fields,
        VALIDATE CONSTRAINT sessions_payable_version,
        VALIDATE CONSTRAINT sessions_tries;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
