import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds limits for the merchant's input to the schema (C6). PostgreSQL checks new rows immediately. The next migration
 * validates existing rows, because this migration locks the table until it commits. Each check is only one comparison,
 * because PostgreSQL prepares all checks for every written row (about 20 µs), and a session is written three times.
 */
export class SessionBounds1763500003050 implements MigrationInterface {
  readonly name = 'SessionBounds1763500003050';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions
        ADD CONSTRAINT sessions_merchant_name CHECK (length(merchant_name) <= 100) NOT VALID,
        ADD CONSTRAINT sessions_request_id CHECK (length(request_id) <= 100) NOT VALID,
        ADD CONSTRAINT sessions_fingerprint CHECK (length(fingerprint) = 64) NOT VALID,
        ADD CONSTRAINT sessions_merchant_order_id CHECK (length(merchant_order_id) <= 100) NOT VALID,
        ADD CONSTRAINT sessions_notification_url CHECK (length(notification_url) <= 2048) NOT VALID,
        ADD CONSTRAINT sessions_return_url CHECK (length(return_url) <= 2048) NOT VALID,
        ADD CONSTRAINT sessions_cancel_url CHECK (length(cancel_url) <= 2048) NOT VALID,
        ADD CONSTRAINT sessions_origin CHECK (length(origin) <= 2048) NOT VALID,
        ADD CONSTRAINT sessions_site_name CHECK (length(site_name) <= 100) NOT VALID,
        ADD CONSTRAINT sessions_custom_fields CHECK (pg_column_size(custom_fields) <= 65536) NOT VALID,
        ADD CONSTRAINT sessions_payable_version CHECK (payable_version > 0) NOT VALID,
        ADD CONSTRAINT sessions_tries CHECK (tries BETWEEN 0 AND 100) NOT VALID;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
