import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the time at which the webhook of a site was enabled. Reconciliation expects a notification for every later
 * payment.
 */
export class NotifiedSince1763500000550 implements MigrationInterface {
  readonly name = 'NotifiedSince1763500000550';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sites ADD COLUMN notified_since timestamptz;
      UPDATE sites SET notified_since = now() WHERE webhook_enabled;
      COMMENT ON COLUMN sites.notified_since IS
        'When the webhook was last enabled. NULL if this release has not enabled it.';
      CREATE FUNCTION keep_notified_since() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.notified_since := OLD.notified_since;
        RETURN NEW;
      END $$;
      CREATE TRIGGER sites_notified_since BEFORE UPDATE ON sites
        FOR EACH ROW WHEN (OLD.webhook_enabled AND NEW.webhook_enabled AND OLD.notified_since IS NOT NULL)
        EXECUTE FUNCTION keep_notified_since();
      COMMENT ON FUNCTION keep_notified_since IS 'Keeps notified_since if the webhook is enabled before and after an update of the site.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
